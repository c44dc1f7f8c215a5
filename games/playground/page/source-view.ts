/**
 * Shows the source file of a lab: fetched as it is on disk, with simple syntax highlighting.
 */

import { element } from './element.ts'

/** The order matters: text inside a comment or a string is not another token. */
const TOKENS: readonly (readonly [kind: string, pattern: string])[] = [
  ['comment', String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*`],
  ['string', String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\x60(?:\\.|[^\x60\\])*\x60`],
  [
    'keyword',
    String.raw`\b(?:as|class|const|continue|else|export|for|from|function|get|if|import|in|interface|let|new|null|of|readonly|return|this|true|false|type|typeof|undefined|void)\b`,
  ],
  ['number', String.raw`\b\d[\d_.e]*\b`],
  ['name', String.raw`\b[A-Z][A-Za-z]*\b`],
]
const PATTERN = new RegExp(TOKENS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'g')

/** Source text as spans: text between tokens stays plain. */
export function highlight(source: string): (HTMLElement | string)[] {
  const parts: (HTMLElement | string)[] = []
  let end = 0
  for (const match of source.matchAll(PATTERN)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? ''
    parts.push(source.slice(end, match.index), element('span', { class: `code-${kind}` }, match[0]))
    end = match.index + match[0].length
  }
  return [...parts, source.slice(end)]
}

/** The source of a lab, which loads asynchronously. */
export function sourceView(name: string): HTMLElement {
  const code = element('code', {}, 'Loading …')
  const path = `labs/${name}.ts`
  void fetch(path)
    .then(async (response) => await (response.ok ? response.text() : Promise.reject(new Error(response.statusText))))
    .then(
      (text) => code.replaceChildren(...highlight(text)),
      (error: unknown) => {
        code.textContent = `${path} could not be loaded: ${error}`
      },
    )
  const isWide = matchMedia('(min-width: 64rem)').matches
  return element('details', { class: 'source', ...(isWide && { open: '' }) },
    element('summary', {}, 'The file that runs ', element('code', {}, `games/playground/${path}`)),
    element('pre', { tabindex: '0', 'aria-label': `Source of ${path}` }, code))
}
