// The cases of the Durable Streams suite that do not apply to Perdure, each with its reason. durable-streams.test.ts uses them.
//
// Perdure has the read half of the protocol, in JSON mode. Steps write; there is no PUT, POST or DELETE of a stream
// (docs/streams.md#read-over-http).

const WRITES = 'write half: steps write, and the bridge of the test answers here'
const EXPIRY = 'write half: a writer sets the time to live; streams of Perdure are kept with their run'
const FORKS = 'write half: a writer forks a stream; forks of runs begin with empty streams'
const PRODUCERS = 'write half: headers of idempotent producers'
const SEQUENCES = 'write half: the header Stream-Seq of writers'
const BYTES = 'streams of bytes: the engine has JSON alone, and its events need no base64'
const TEXT =
  'streams of text: the engine has JSON alone, whose events have no line breaks, and the bridge frames the text'

/** Reasons by group. All cases of the group and of groups inside it are skipped. */
export const EXCLUDED_GROUPS: Readonly<Record<string, string>> = {
  'Basic Stream Operations': WRITES,
  'TTL and Expiry Validation': EXPIRY,
  'TTL and Expiry Edge Cases': EXPIRY,
  'HEAD Metadata Edge Cases': EXPIRY,
  'TTL Expiration Behavior': EXPIRY,
  'Case-Insensitivity': WRITES,
  'Sequence Ordering Properties': SEQUENCES,
  'Concurrent Writer Stress Tests': WRITES,
  'Idempotent Producer Operations': PRODUCERS,
  'Create with Stream-Closed': WRITES,
  'Close Operations': WRITES,
  'Idempotent Producers with Stream Closure': PRODUCERS,
  'Fork - Creation': FORKS,
  'Fork - Reading': FORKS,
  'Fork - Appending': FORKS,
  'Fork - Recursive': FORKS,
  'Fork - Live Modes': FORKS,
  'Fork - Deletion and Lifecycle': FORKS,
  'Fork - TTL and Expiry': FORKS,
  'Fork - JSON Mode': FORKS,
  'Fork - Edge Cases': FORKS,
}

/** Reasons by case, for groups whose other cases run. */
export const EXCLUDED_CASES: Readonly<Record<string, string>> = {
  'Append Operations > should enforce sequence ordering with seq': SEQUENCES,
  'HTTP Protocol > should return correct headers on PUT': WRITES,
  'HTTP Protocol > should return 200 on idempotent PUT with same config': WRITES,
  'HTTP Protocol > should return 409 on PUT with different config': WRITES,
  'HTTP Protocol > should return correct headers on POST': WRITES,
  'HTTP Protocol > should return 404 on POST to non-existent stream': WRITES,
  'HTTP Protocol > should return 409 on content-type mismatch': WRITES,
  'HTTP Protocol > should return 404 on DELETE non-existent stream': WRITES,
  'HTTP Protocol > should return 204 on successful DELETE': WRITES,
  'HTTP Protocol > should enforce sequence ordering': SEQUENCES,
  'HTTP Protocol > should enforce lexicographic seq ordering ("2" then "10" rejects)': SEQUENCES,
  'HTTP Protocol > should allow lexicographic seq ordering ("09" then "10" succeeds)': SEQUENCES,
  'HTTP Protocol > should reject duplicate seq values': SEQUENCES,
  'Browser Security Headers > should include X-Content-Type-Options: nosniff on PUT responses': WRITES,
  'Browser Security Headers > should include X-Content-Type-Options: nosniff on POST responses': WRITES,
  'Content-Type Validation > should enforce content-type match on append': WRITES,
  'Content-Type Validation > should allow append with matching content-type': WRITES,
  'Protocol Edge Cases > should reject empty POST body with 400': WRITES,
  'Protocol Edge Cases > should enforce case-sensitive seq ordering': SEQUENCES,
  'Protocol Edge Cases > should return Location header on 201': WRITES,
  'Protocol Edge Cases > should reject missing Content-Type on POST': WRITES,
  'Protocol Edge Cases > should accept PUT without Content-Type (use default)': WRITES,
  'Chunking and Large Payloads > should handle large payload appropriately': WRITES,
  'SSE Mode > base64 SSE catch-up pairs every data event with a control event': BYTES,
  'SSE Mode > should handle newlines in text/plain payloads': TEXT,
  'SSE Mode > should prevent CRLF injection in payloads - embedded event boundaries become literal data': TEXT,
  'SSE Mode > should prevent CRLF injection - LF-only attack vectors': TEXT,
  'SSE Mode > should prevent CRLF injection - carriage return only attack vectors': TEXT,
  'SSE Mode > should auto-detect binary streams and return base64 encoded data in SSE mode': BYTES,
  'SSE Mode > should include Stream-SSE-Data-Encoding header for binary streams': BYTES,
  'SSE Mode > should base64 encode data events only, control events remain JSON': BYTES,
  'SSE Mode > should handle empty binary payload with auto-detected base64 encoding': BYTES,
  'SSE Mode > should handle large binary payload with auto-detected base64 encoding': BYTES,
  'SSE Mode > should handle binary data with special bytes using auto-detected base64 encoding': BYTES,
  'SSE Mode > should auto-detect base64 encoding for application/x-protobuf streams': BYTES,
  'SSE Mode > should auto-detect base64 encoding for image/png streams': BYTES,
  'SSE Mode > should handle offset=now with auto-detected base64 encoding for binary streams': BYTES,
  'JSON Mode > should allow PUT with empty array body (creates empty stream)': WRITES,
  'JSON Mode > should reject POST with empty array body': WRITES,
  'JSON Mode > should reject invalid JSON with 400': WRITES,
  'JSON Mode > should reject empty JSON arrays with 400': WRITES,
  'Edge Cases > 409-includes-stream-offset: 409 for closed stream includes Stream-Next-Offset header': WRITES,
  'Edge Cases > close-nonexistent-stream-404: POST with Stream-Closed to nonexistent stream returns 404': WRITES,
  'Edge Cases > producer-state-survives-close: Stale-epoch producer gets 403, not 409 STREAM_CLOSED': PRODUCERS,
  'Edge Cases > close-with-different-body-dedup: Retry close with different body deduplicates to original': PRODUCERS,
  'Edge Cases > empty-post-without-stream-closed-400: POST with empty body but no Stream-Closed returns 400': WRITES,
  'Edge Cases > delete-closed-stream: Deleting a closed stream removes it (returns 404 after)': WRITES,
}
