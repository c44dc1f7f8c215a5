/**
 * Join codes, as a player types them and as links have them. Only their form is known here; the rendezvous reads them.
 */

const CODE = /^[a-z]{3,8}(?:[- ][a-z]{3,8})?[- ][0-9a-z]{4}$/i
/** The end of a link: a code and a key. */
const LINK = /#([a-z]{3,8}(?:-[a-z]{3,8})?-[0-9a-z]{4}-[0-9a-z]{16})$/i

/** A match that is joined by a code: the code, and the address of the page that a link leads to. */
export interface CodePlace {
  readonly code: string
  /** Undefined when only the code is known. */
  readonly page: string | undefined
}

/** The code in what was given to `connect`; undefined when it is an address. */
export function codeIn(text: string): CodePlace | undefined {
  const trimmed = text.trim()
  if (CODE.test(trimmed)) return { code: trimmed, page: undefined }
  const [, code] = LINK.exec(trimmed) ?? []
  return code === undefined ? undefined : { code, page: trimmed.slice(0, trimmed.lastIndexOf('#')) }
}
