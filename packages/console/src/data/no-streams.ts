// Stands for the streams of the client in the build (vite.config.ts): the console reads the stream in one place for all tabs
// (live/source.ts).

/** Nobody calls it. */
export function follow(): never {
  throw new Error('the console follows no stream by its client')
}
