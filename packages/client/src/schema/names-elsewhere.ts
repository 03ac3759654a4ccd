// The names that other engines use for options, with our names for them. Called by the checks of options.

/** Names that other engines use, each with our names for the same option. The first one that the options have is meant. */
export const NAMES_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  attempts: ['maxAttempts'],
  baseUrl: ['url'],
  client: ['app'],
  cron: ['triggers'],
  endpoint: ['url'],
  event: ['triggers'],
  eventKey: ['apiKey'],
  expression: ['if'],
  filter: ['if'],
  finish: ['run'],
  function: ['workflow'],
  functions: ['workflows'],
  id: ['name', 'app'],
  idempotencyKey: ['dedupeId'],
  input: ['data'],
  key: ['apiKey'],
  name: ['event', 'workflow'],
  onError: ['onFailure'],
  payload: ['data'],
  schema: ['input'],
  servePath: ['path'],
  start: ['queue'],
  token: ['apiKey'],
  tasks: ['workflows'],
}
