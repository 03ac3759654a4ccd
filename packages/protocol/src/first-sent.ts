// Reads which event and run an event repeats: the body of the answer has no room for them, so they are in headers. Called by the
// SDK and the client.

/** Returns the reply, with the ids of the first event and its run if it answers a repeat. */
export function withFirstSent<Reply>(reply: Reply, headers: Pick<Headers, 'get'>): Reply {
  const eventId = headers.get('x-event-id')
  if (!eventId) return reply
  const runId = headers.get('x-run-id')
  return { ...reply, eventId, ...(runId ? { runId } : {}) }
}
