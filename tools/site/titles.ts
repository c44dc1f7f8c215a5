/** The titles of documents, as the docs site shows them in its navigation and in links. */

/** The first heading, without the marks of code; the part after a colon is left to the page. */
export function titleOf(text: string): string | undefined {
  return /^# (.+)$/m.exec(text)?.[1]?.replace(/[`*]/g, '').replace(/(?<=^[^:]{6,}):.*$/, '')
}
