/**
 * Renders templates of Helm, as far as ours go: values, `quote`, `toYaml | nindent`, `range $key, $value` and comments.
 * It throws at anything else. It is no proof that Helm reads them; it shows that the result is the YAML that was meant.
 */

import { stringify } from 'yaml'

/** What templates see: `.Values`, `.Release`, and variables with a dollar sign. */
export interface Scope {
  readonly [name: string]: unknown
}

/** The text of a template with the values of `scope`. */
export function renderTemplate(text: string, scope: Scope): string {
  const range = /\{\{- range \$(\w+), \$(\w+) := (\S+) \}\}\n([^]*?)\{\{- end \}\}\n/
  const found = range.exec(text)
  if (found !== null) {
    const [whole, key = '', value = '', path = '', body = ''] = found
    const items = Object.entries(valueAt(path, scope) as object)
      .map(([name, item]) => renderTemplate(body, { ...scope, [`$${key}`]: name, [`$${value}`]: item }))
    return renderTemplate(text.slice(0, found.index), scope) + items.join('')
      + renderTemplate(text.slice(found.index + whole.length), scope)
  }
  return text.replaceAll(/ ?\{\{(-?) (.*?) \}\}/g, (whole, dash: string, expression: string) => {
    const yaml = /^toYaml (\S+) \| nindent (\d+)$/.exec(expression)
    const space = whole.startsWith(' ') && dash === '' ? ' ' : ''
    if (yaml !== null) {
      const lines = stringify(valueAt(yaml[1] ?? '', scope)).trimEnd().split('\n')
      return lines.map((line) => `\n${' '.repeat(Number(yaml[2]))}${line}`).join('')
    }
    const [path = '', filter, ...rest] = expression.split(' | ')
    const value = valueAt(path, scope)
    if (rest.length > 0 || (filter ?? 'quote') !== 'quote') throw new Error(`${expression}: not known here`)
    return space + (filter === 'quote' ? JSON.stringify(String(value)) : String(value))
  })
}

function valueAt(path: string, scope: Scope): unknown {
  if (!/^\$?\.?[\w.]+$/.test(path)) throw new Error(`${path}: not known here`)
  const names = path.startsWith('$') && !path.startsWith('$.') ? [path] : path.replace(/^\$?\./, '').split('.')
  const value = names.reduce<unknown>((inside, name) => (inside as Scope | undefined)?.[name], scope)
  if (value === undefined) throw new Error(`${path}: no such value`)
  return value
}
