// The sentence about a run that a concurrency limit or a throttle holds, for `run-why.ts`.

/** States what holds the run, until when, and whether an operator has set the limit. */
export function limitSentence(
  { limitOfOperator: limit }: { limitOfOperator?: number | undefined },
  what: string,
  until: string,
  before: string,
): string {
  if (limit === 0)
    return `It is held by its ${what}${before}: an operator has set the limit to 0, and nothing starts until it is raised or removed.`
  const operator = limit === undefined ? '' : ` An operator has set the limit to ${limit}.`
  return `It is held by its ${what}${until}${before}.${operator}`
}
