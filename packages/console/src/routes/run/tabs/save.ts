// Saves a text as a file of the browser.

/** Offers a JSON text for download under a fixed name. */
export function saveJson(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own reference by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
