// The addresses of the console and the engine, and whether the engine needs a key: the engine writes these facts into the page.

const written = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=perdure-${name}]`)?.content ?? ''

/** The path prefix in front of the engine, without a closing slash. An empty string if there is none. */
export const PREFIX = written('base')
/** The path of the console. */
export const CONSOLE_ROOT = `${PREFIX}/console`
/** The address of the engine. */
export const ENGINE_URL = location.origin + PREFIX
/** Whether the engine was open, without any key, when it sent the page. It closes once a key is created. */
export const WAS_OPEN = written('open') === '1'
