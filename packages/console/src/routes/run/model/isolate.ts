// Splits a sentence of the console at the texts of others in it, whose direction of writing must not change the order of its words. Pure.

export interface SentencePart {
  text: string
  isOfOthers: boolean
}

const QUOTED = /“([^”]*)”/g

/** The parts of the sentence: what is in quotes, and `message`, are of others. */
export function isolatedParts(sentence: string, message = ''): SentencePart[] {
  const said = message === '' ? -1 : sentence.lastIndexOf(message)
  const end = said < 0 ? sentence.length : said
  const parts: SentencePart[] = []
  let at = 0
  const push = (to: number, isOfOthers: boolean) => {
    if (to > at) parts.push({ text: sentence.slice(at, to), isOfOthers })
    at = to
  }
  for (const { index, 1: name = '' } of sentence.slice(0, end).matchAll(QUOTED)) {
    push(index + 1, false)
    push(index + 1 + name.length, true)
  }
  push(end, false)
  if (said >= 0) push(said + message.length, true)
  push(sentence.length, false)
  return parts
}
