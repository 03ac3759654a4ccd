// Where the console and the engine are: the engine writes a path prefix of a proxy into the page.

/** The path prefix in front of the engine; empty without one, never with a closing slash. */
export const PREFIX = document.querySelector<HTMLMetaElement>('meta[name=perdure-base]')?.content ?? ''
/** The path of the console. */
export const CONSOLE_ROOT = `${PREFIX}/console`
/** The address of the engine. */
export const ENGINE_URL = location.origin + PREFIX
