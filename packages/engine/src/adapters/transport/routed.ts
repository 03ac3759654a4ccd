// The engine's transport: sends `conn://` URLs to the Connect transport, all others to HTTP. Made by compose.

import { isConnectUrl } from '../../domain/model/connect-url.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../ports/transport.ts'

export class RoutedTransport implements Transport {
  readonly #http: Transport
  readonly #connect: Transport

  constructor({ http, connect }: { http: Transport; connect: Transport }) {
    this.#http = http
    this.#connect = connect
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    return (isConnectUrl(call.url) ? this.#connect : this.#http).invoke(call)
  }

  reaches(url: string): boolean {
    return (isConnectUrl(url) ? this.#connect : this.#http).reaches?.(url) !== false
  }

  room(url: string): number | undefined {
    return isConnectUrl(url) ? this.#connect.room?.(url) : undefined
  }

  requestRoom(url: string): void {
    if (isConnectUrl(url)) this.#connect.requestRoom?.(url)
  }

  async close(): Promise<void> {
    await Promise.all([this.#http.close(), this.#connect.close()])
  }
}
