/**
 * The line of code that made a call, from the text of a stack. V8 and the others write stacks differently:
 *
 *   V8             Error: text \n    at name (file:12:34) \n    at file:12:34
 *   SpiderMonkey   name@file:12:34
 *   JavaScriptCore name@file:12:34, or file:12:34
 *
 * A line in a bundle is translated by its source map (`source-map.ts`) where the map can be read.
 */

/** A line of code. */
export interface CodeSite {
  /** The file or URL, as the engine names it. */
  readonly file: string
  /** The line, from 1. */
  readonly line: number
  /** The column, from 1. */
  readonly column: number
}

/** The frame after the first `skipped` ones, the function that took the stack included. */
export function firstUserFrame(stack: string, skipped: number): CodeSite | undefined {
  const frames = stack.split('\n').map(siteIn).filter((site) => site !== undefined)
  return frames[skipped]
}

function siteIn(line: string): CodeSite | undefined {
  const isV8 = /^\s*at /.test(line)
  if (!isV8 && !/@|^\S+:\d+:\d+$/.test(line)) return undefined
  const place = /(?:\(|@|\bat (?:async )?|^)([^\s(@][^(@]*?):(\d+):(\d+)\)?\s*$/
  const [, file, lineText, columnText] = place.exec(line) ?? []
  if (file === undefined) return undefined
  return { file, line: Number(lineText), column: Number(columnText) }
}

/** `game.ts:212:9` */
export function siteText({ file, line, column }: CodeSite): string {
  return `${file}:${line}:${column}`
}
