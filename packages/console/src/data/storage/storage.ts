// The storage of the browser and the storage of the tab. A browser may refuse both, for example for a site whose data is blocked:
// values then last only as long as the page.

/** The storage of the browser or of the tab. Its own keys are the stored names. */
type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const PROBE = 'perdure.probe'

function open(name: 'localStorage' | 'sessionStorage'): Kept {
  try {
    const storage = globalThis[name]
    storage.setItem(PROBE, '')
    storage.removeItem(PROBE)
    return storage
  } catch {
    const kept: Record<string, string> & Kept = Object.create({
      getItem: (key: string) => kept[key] ?? null,
      setItem: (key: string, value: string) => {
        kept[key] = value
      },
      removeItem: (key: string) => delete kept[key],
    })
    return kept
  }
}

export const browserStorage = open('localStorage')
export const tabStorage = open('sessionStorage')
