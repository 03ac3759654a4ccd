// Reads Markdown as GitHub shows it: the anchors of a page's headings, and the targets of its links.

/** Every anchor for links to this page: its headings by GitHub's rules, and ids set in HTML. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const line of withoutFences(page).split('\n')) {
    const heading = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/.exec(line)?.[1]
    if (heading !== undefined) addSlug(anchors, slugOf(heading))
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id as string)
  }
  return anchors
}

/** The targets of the links of a page in order, including images but not links in code. */
export function linksOf(page: string): string[] {
  const text = withoutFences(page).replace(/(`+)[^`].*?\1(?!`)/g, '')
  const inline = [...text.matchAll(/\]\(\s*<?([^()\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)]
  const defined = [...text.matchAll(/^\[[^\]]+\]:\s+<?(\S+?)>?$/gm)]
  return [...inline, ...defined].map(match => match[1] as string)
}

/** The anchor of a heading: lower case, punctuation dropped, a hyphen for each space. */
export function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replace(/ /g, '-')
}

/** A slug that is taken gets the first free suffix: `-1`, `-2`. */
function addSlug(anchors: Set<string>, slug: string): void {
  let free = slug
  for (let n = 1; anchors.has(free); n++) free = `${slug}-${n}`
  anchors.add(free)
}

function withoutFences(page: string): string {
  return page.replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ {0,3}\1[`~]* *$/gm, '')
}
