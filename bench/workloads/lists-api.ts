// The requests of LISTS, on one connection. Called by its workloads.

import { Agent, request } from 'node:http'

export class ListsApi {
  readonly problems: string[] = []
  readonly #origin: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor(origin: string) {
    this.#origin = origin
  }

  get(path: string): Promise<{ status: number; rows: number; cursor: string | undefined }> {
    return new Promise((resolve, reject) => {
      const call = request(this.#origin + path, { agent: this.#agent }, response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
          if (status !== 200 && status !== 400) this.problems.push(`GET ${path} answered ${status}`)
          const cursor = headers['x-next-cursor'] as string | undefined
          resolve({ status, rows: Array.isArray(body) ? body.length : 0, cursor })
        })
      })
      call.on('error', reject)
      call.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
