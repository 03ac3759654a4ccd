// Counts the new rows of a list that does not move by itself, and adds them. It overlaps the edge of the list and moves nothing.

import css from './news.module.css'

/** `news` and `readAgain` of `useLiveList`. */
export function News({ count, onRead }: { count: number; onRead(): void }) {
  if (count === 0) return null
  return (
    <div className={css.place}>
      <button type="button" className={css.news} onClick={onRead}>
        ▲ {count} new
      </button>
    </div>
  )
}
