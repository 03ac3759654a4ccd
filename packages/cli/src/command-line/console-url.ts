// Addresses of the console, for commands that print one.

/** The console of the engine at this address. */
export const consoleUrl = (url: string) => `${url.replace(/\/+$/, '')}/console/`

/** Its page of the thing with this id, whatever kind it is. */
export const pageUrl = (url: string, id: string) => `${consoleUrl(url)}go/${id}`
