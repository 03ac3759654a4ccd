// Headers of every answer that limit what a browser does with it. Set by app.ts, and by the error paths that its hooks do not
// reach.

/**
 * No browser guesses another content type, and no page of another origin embeds an answer. Pages of `ENGINE_CORS_ORIGINS` can
 * still read answers: browsers check the resource policy only if a page does not ask for permission to read.
 */
export const PROTECTIVE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const
