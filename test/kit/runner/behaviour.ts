// Faults between engine and runner, each as a reply of a handler.

import type { RawReply } from './wire.ts'

/** Never answers. */
export const hang: RawReply = () => {}

/** Resets the connection before any header. */
export const reset: RawReply = request => {
  request.socket.resetAndDestroy()
}

/** Sends headers and part of the body, then resets the connection. */
export const cut: RawReply = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"data":"half of', () => response.socket?.resetAndDestroy())
}

/** Answers `text` with `status`, whether or not the text is valid. */
export function plain(status: number, text: string | Buffer, contentType = 'application/json'): RawReply {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': contentType }).end(text)
  }
}
