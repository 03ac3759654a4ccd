// HMAC-SHA-256 for browsers without `crypto.subtle`: on plain HTTP beyond this machine. Loaded by verify-post.ts when it is
// needed.

const BLOCK_BYTES = 64

/**
 * Returns the first 32 bits of the fraction of a root of one of the first primes: square roots for the state, cube roots for the
 * rounds.
 */
const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0
const PRIMES = Array.from({ length: 311 }, (_, i) => i + 2).filter(n => {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false
  return true
})
const STATE = PRIMES.slice(0, 8).map(prime => fraction(Math.sqrt(prime)))
const ROUNDS = PRIMES.slice(0, 64).map(prime => fraction(Math.cbrt(prime)))

/** Returns the HMAC-SHA-256 of a message. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array<ArrayBuffer> {
  const short = key.length > BLOCK_BYTES ? sha256(key) : key
  const pad = (byte: number) => Uint8Array.from({ length: BLOCK_BYTES }, (_, i) => (short[i] ?? 0) ^ byte)
  return sha256(joined(pad(0x5c), sha256(joined(pad(0x36), message))))
}

/** SHA-256 as defined in FIPS 180-4. */
export function sha256(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(message)
  padded[message.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor((message.length * 8) / 2 ** 32))
  view.setUint32(padded.length - 4, (message.length * 8) >>> 0)
  const state = Int32Array.from(STATE)
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) addBlock(state, view, at)
  const digest = new DataView(new ArrayBuffer(32))
  for (const [i, word] of state.entries()) digest.setInt32(i * 4, word)
  return new Uint8Array(digest.buffer)
}

function addBlock(state: Int32Array, view: DataView, at: number): void {
  const words = new Int32Array(64)
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4)
  for (let i = 16; i < 64; i++) {
    const [early, late] = [words[i - 15] as number, words[i - 2] as number]
    const low = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
    const high = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)
    words[i] = (words[i - 16] as number) + low + (words[i - 7] as number) + high
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const first =
      (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + (ROUNDS[i] as number) + (words[i] as number)) | 0
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + word
}

const turn = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
