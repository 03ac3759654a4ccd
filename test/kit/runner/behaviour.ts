// Things that go wrong between engine and runner, each as a reply of a handler.

import type { RawReply } from './wire.ts'

/** Never answers. */
export const hang: RawReply = () => {}

/** The connection is reset before any header. */
export const reset: RawReply = request => {
  request.socket.resetAndDestroy()
}

/** Headers and a part of the body, then the connection is gone. */
export const cut: RawReply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":"half of', () => response.socket?.resetAndDestroy())
}

/** Answers `text` with `status`, whatever it is. */
export function plain(status: number, text: string | Buffer, contentType = 'application/json'): RawReply {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': contentType }).end(text)
  }
}
