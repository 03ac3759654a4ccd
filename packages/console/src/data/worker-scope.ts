// The global scope of a worker that answers messages of its page. The page and its workers share one set of types, which has the
// scope of a page.

export interface WorkerScope<Question, Answer> {
  onmessage: ((event: MessageEvent<Question>) => void) | null
  postMessage(message: Answer): void
}
