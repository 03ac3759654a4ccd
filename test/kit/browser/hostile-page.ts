// Texts that the console's tests plant in every field that an outsider can fill, and the checks of a page that shows them.

import type { Page } from 'playwright-core'

/** Hidden characters: a bidi override, a zero-width space, a control character, NUL, a line separator. */
const HIDDEN = '\u202e\u200b\u0007\u0000\u2028'
/** The end of every planted text. The checks search the pages for its characters. */
export const EVIL = `"'></title><img src=x onerror="window.planted=1"><script>window.planted=1</script>javascript:window.planted=1 https://evil.example/${HIDDEN}`

/** Runs in the page before its own scripts: the longest task so far, and how long a fixed piece of work takes on this machine. */
export const MEASURE = `{
  window.longestTaskMs = 0
  new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) window.longestTaskMs = Math.max(window.longestTaskMs, duration)
  }).observe({ type: 'longtask', buffered: true })
}`

/** Runs in the page: finds planted texts that the page treats as more than text. */
const FIND = `(() => {
  const hidden = /(?![\\t\\n])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]/u
  const found = []
  const short = text => JSON.stringify(text.slice(0, 120))
  if (window.planted !== undefined) found.push('a planted script ran')
  if (hidden.test(document.title)) found.push('hidden characters in the title ' + short(document.title))
  if (document.title.length > 90) found.push('a title of ' + document.title.length + ' characters')
  const visit = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) visit(element.shadowRoot)
      const name = element.tagName.toLowerCase()
      if (['img[src]', 'iframe', 'object', 'embed', 'base', 'form[action]'].some(each => element.matches(each))) found.push('an element ' + element.outerHTML.slice(0, 120))
      if (name === 'script' && !element.src.startsWith(location.origin)) found.push('a script ' + element.outerHTML.slice(0, 120))
      for (const { name: attribute, value } of element.attributes) {
        if (attribute.startsWith('on')) found.push('a handler in HTML: ' + attribute)
        if (['value', 'href', 'd', 'data-key', 'data-status'].includes(attribute)) continue
        if (hidden.test(value)) found.push('hidden characters in ' + attribute + ' of ' + name + ': ' + short(value))
      }
      if (name === 'a') {
        const { href } = element
        if (!href.startsWith(location.origin + '/') ) found.push('a link to ' + href.slice(0, 120))
      }
      if (name === 'style') continue
      for (const node of element.childNodes)
        if (node.nodeType === Node.TEXT_NODE && hidden.test(node.data)) found.push('hidden characters in a text of ' + name + '.' + element.className + ': ' + short(node.data))
    }
  }
  visit(document)
  return [...new Set(found)]
})()`

/** Lists the planted texts that the page treats as more than text. */
export const faultsOfText = (page: Page): Promise<string[]> => page.evaluate<string[]>(FIND)

/** The time that a fixed piece of work takes on this machine now, in milliseconds: the unit of `longestTask`. */
const WORK = `(() => {
  const start = performance.now()
  let sum = 0
  for (let i = 0; i < 3e7; i++) sum = (sum + i * 7) | 0
  return Math.max(performance.now() - start, 1) + (sum === 0.5 ? 1 : 0)
})()`

/** The longest task of the page so far as a multiple of a fixed piece of work. */
export async function longestTask(page: Page): Promise<number> {
  const unitMs = Math.max(await page.evaluate<number>(WORK), await page.evaluate<number>(WORK))
  return (await page.evaluate<number>('window.longestTaskMs')) / unitMs
}
