// Saves a text as a file through the browser.

/** A file with a fixed name. */
export interface TextFile {
  name: string
  type: string
  parts: readonly string[]
}

/** Offers a JSON text for download. */
export const saveJson = (name: string, text: string): void =>
  saveText({ name, type: 'application/json', parts: [text] })

export function saveText({ name, type, parts }: TextFile): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // By the next task, the download has its own reference.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
