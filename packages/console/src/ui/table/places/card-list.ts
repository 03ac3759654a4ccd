// The cards of a list. Each is as high as its texts: its height is measured while it is in the document. The visible cards stay
// in place when cards above them turn out to differ from the guessed height. Loaded if there are cards.

import { CardHeights } from './card-heights.ts'
import type { Places } from './places.ts'

/** Within this many pixels of its top, a list shows new rows that arrive there. */
const AT_TOP_PX = 8

/** The first card on the screen, and its distance from the top of the list. */
interface Anchor {
  key: string
  top: number
}

export class CardList {
  readonly #heights = new CardHeights()
  #anchor: Anchor | undefined

  placesOf(keys: readonly string[]): Places {
    return this.#heights.placesOf(keys)
  }

  /**
   * Measures the cards in the document. Returns whether the places have changed. Called after every rendering, before it is
   * painted.
   */
  measure(table: HTMLElement, scroller: Element): boolean {
    const cards = cardsOf(table)
    const hasChanged = this.#heights.note(cards.map(card => [keyOf(card), card.getBoundingClientRect().height]))
    const anchor = this.#anchor && cards.find(card => keyOf(card) === this.#anchor?.key)
    const moved = anchor ? topIn(table, anchor) - (this.#anchor as Anchor).top : 0
    if (moved !== 0 && scroller.scrollTop > AT_TOP_PX) scroller.scrollTop += moved
    this.look(table, scroller)
    return hasChanged
  }

  /** Notes which card is the first on the screen. */
  look(table: HTMLElement, scroller: Element): void {
    const { top } = scroller.getBoundingClientRect()
    const first = cardsOf(table).find(card => card.getBoundingClientRect().bottom > top)
    this.#anchor = first && { key: keyOf(first), top: topIn(table, first) }
  }

  /** Forgets which card was on the screen, because the list is shown again. */
  leave(): void {
    this.#anchor = undefined
  }
}

const lists = new Map<string, CardList>()

/** Returns the cards of a list by its name and width. They outlive its page, so that the way back finds each in its place. */
export function cardListOf(name: string): CardList {
  const list = lists.get(name) ?? new CardList()
  lists.set(name, list)
  return list
}

const cardsOf = (table: HTMLElement) => [...table.querySelectorAll<HTMLElement>('tr[data-key]')]
const keyOf = ({ dataset }: HTMLElement) => dataset.key as string
const topIn = (table: HTMLElement, card: HTMLElement) =>
  card.getBoundingClientRect().top - table.getBoundingClientRect().top
