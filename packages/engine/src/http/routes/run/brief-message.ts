// The message of an error in a list of many. Used by the routes of errors and statistics.

import { cutText } from '@perdure/protocol'

/** In code points. */
const MESSAGE_CHARS_MAX = 200

export function briefMessage({ message }: { message: string }): string {
  return cutText(message, MESSAGE_CHARS_MAX)
}
