// Cuts texts for messages, lists and frames. The only place that cuts a text at a length: engine, SDK, command line and console
// call it, so no character outside the BMP, such as an emoji, is cut in half.

/** The first `charsMax` characters (code points) of the text, and `end` if there are more. */
export function cutText(text: string, charsMax: number, end = ''): string {
  if (text.length <= charsMax) return text
  let at = 0
  for (let n = 0; n < charsMax && at < text.length; n++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1
  return at < text.length ? text.slice(0, at) + end : text
}
