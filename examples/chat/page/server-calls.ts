// Calls to the server that served the page, and texts for errors. Used by page.tsx.

/** Calls the server, and gives the JSON of its answer. */
// biome-ignore lint/suspicious/noExplicitAny: each path has its own answer
export async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<any> {
  const response = await fetch(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = await response.json()
  if (!response.ok) throw Object.assign(new Error(answer.error.message), { status: response.status })
  return answer
}

/** Returns the text that the page shows for an error. The error of a refused read has the HTTP status. */
export function explain(error: Error): string {
  const { status } = error as { status?: number }
  if (status === 401) return 'The access to this answer has ended or is not valid.'
  if (status === 403) return 'This page may not read that answer.'
  if (status === 0) return 'The engine cannot be reached from this page.'
  return error.message
}

/** Whether reading the answer failed, so that another read may succeed. False if its run has failed. */
export const isReadError = (error: Error): boolean => 'status' in error || error instanceof TypeError
