// The message of an error where many are listed. Used by the routes of errors and statistics.

import { cutText } from '@perdure/protocol'

/** In code points. */
const MESSAGE_CHARS_MAX = 200

export function briefMessage({ message }: { message: string }): string {
  return cutText(message, MESSAGE_CHARS_MAX)
}
