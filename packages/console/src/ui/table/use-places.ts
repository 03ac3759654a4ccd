// The places of the rows of a list: rows of the same height, or cards that each have their own height.

import { type RefObject, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { evenPlaces, type Places } from './places/places.ts'

/** The assumed height of a card until the script for cards is loaded. */
const CARD_PX = 72

type Cards = typeof import('./places/card-list.ts')
let loaded: Cards | undefined

export interface PlacesOptions<Row> {
  label: string
  rows: readonly Row[]
  keyOf(row: Row): string
  /** The height of a row that is not a card. */
  rowPx: number
  isCards: boolean
}

export function usePlaces<Row>(table: RefObject<HTMLElement | null>, options: PlacesOptions<Row>): Places {
  const { label, rows, keyOf, rowPx, isCards } = options
  const list = useCards(isCards)?.cardListOf(`${label} ${innerWidth}`)
  const [changes, setChanges] = useState(0)
  const even = useMemo(() => evenPlaces(isCards ? CARD_PX : rowPx), [isCards, rowPx])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other heights are other places; keys are constant.
  const places = useMemo(() => list?.placesOf(rows.map(keyOf)), [list, rows, changes])
  // Each rendering may have brought cards into the document, or changed their heights.
  useLayoutEffect(() => {
    const scroller = table.current?.closest('[data-scroller]')
    if (list && table.current && scroller && list.measure(table.current, scroller)) setChanges(count => count + 1)
  })
  useEffect(() => {
    const scroller = table.current?.closest('[data-scroller]')
    if (!list || !scroller) return
    const look = () => table.current && list.look(table.current, scroller)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => {
      scroller.removeEventListener('scroll', look)
      list.leave()
    }
  }, [table, list])
  return places ?? even
}

/** The script for cards, once it is loaded. */
function useCards(isCards: boolean): Cards | undefined {
  const [cards, setCards] = useState(loaded)
  useEffect(() => {
    if (!isCards || loaded) return
    const keep = (part: Cards) => {
      loaded = part
      setCards(part)
    }
    // Without it the cards have the guessed places.
    import('./places/card-list.ts').then(keep, () => {})
  }, [isCards])
  return isCards ? (loaded ?? cards) : undefined
}
