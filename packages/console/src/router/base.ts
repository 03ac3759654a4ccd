// Where the console and the engine are, and whether the engine wants a key: the engine writes into the page what it knows.

const written = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=perdure-${name}]`)?.content ?? ''

/** The path prefix in front of the engine; empty without one, never with a closing slash. */
export const PREFIX = written('base')
/** The path of the console. */
export const CONSOLE_ROOT = `${PREFIX}/console`
/** The address of the engine. */
export const ENGINE_URL = location.origin + PREFIX
/** Whether the engine was open, without any key, when it sent the page. It is closed once a key is made. */
export const WAS_OPEN = written('open') === '1'
