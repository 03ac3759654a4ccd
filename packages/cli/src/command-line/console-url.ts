// Addresses of the console, for commands that print one.

/** The console of the engine at this address. */
export const consoleUrl = (url: string) => `${url.replace(/\/+$/, '')}/console/`

/** The console's page for this id: of a run, an event, or any other record. */
export const pageUrl = (url: string, id: string) => `${consoleUrl(url)}go/${id}`
