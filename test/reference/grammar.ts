/**
 * Runs a grammar as docs/wire/STATE.md writes it: checks whether a text matches a rule. Imports nothing from src.
 *
 *   name ::= "literal" other-name ( a | b )? c* [A-Z]+
 */

/** Where a match that begins at a place may end. */
type Matcher = (text: string, at: number) => readonly number[]

/** Sets that are described in words. */
const WORDED: { readonly [set: string]: RegExp } = {
  '[json]': /"(?:[^"\\]|\\.)*"/y,
  '[16 hex digits]': /[0-9a-f]{16}/y,
  '[hex digits]': /[0-9a-f]*/y,
}

export class Grammar {
  readonly #rules = new Map<string, Matcher>()

  /** Reads rules; a line that begins with a space goes on with the rule before. */
  constructor(source: string) {
    for (const rule of source.replace(/\n +/g, ' ').split('\n').filter((line) => line.includes('::='))) {
      const [name = '', body = ''] = rule.split(/\s*::=\s*/)
      this.#rules.set(name, new RuleReader(body, (used) => this.#rule(used)).read())
    }
  }

  /** The names of all rules. */
  get names(): readonly string[] {
    return [...this.#rules.keys()]
  }

  /** Whether a whole text matches a rule. */
  matches(rule: string, text: string): boolean {
    return this.#rule(rule)(text, 0).includes(text.length)
  }

  #rule(name: string): Matcher {
    const found = this.#rules.get(name)
    if (found === undefined) throw new Error(`the grammar has no rule ${name}`)
    return found
  }
}

/** Reads the right side of a rule. */
class RuleReader {
  readonly #tokens: readonly string[]
  readonly #find: (name: string) => Matcher
  #at = 0

  constructor(body: string, find: (name: string) => Matcher) {
    this.#tokens = body.match(/"(?:[^"])*"|\[[^\]]*\]|[()|?*+]|[\w-]+/g) ?? []
    this.#find = find
  }

  read(): Matcher {
    const ways = [this.#row()]
    while (this.#tokens[this.#at] === '|') {
      this.#at++
      ways.push(this.#row())
    }
    return (text, at) => unique(ways.flatMap((way) => way(text, at)))
  }

  #row(): Matcher {
    const parts: Matcher[] = []
    while (this.#at < this.#tokens.length && this.#tokens[this.#at] !== '|' && this.#tokens[this.#at] !== ')')
      parts.push(this.#repeated())
    return (text, at) =>
      parts.reduce<readonly number[]>((ends, part) => unique(ends.flatMap((end) => part(text, end))), [at])
  }

  #repeated(): Matcher {
    const one = this.#one()
    const sign = this.#tokens[this.#at]
    if (sign !== '?' && sign !== '*' && sign !== '+') return one
    this.#at++
    if (sign === '?') return (text, at) => unique([at, ...one(text, at)])
    return (text, at) => {
      const all = new Set<number>()
      for (
        let ends = unique(one(text, at));
        ends.length > 0;
        ends = unique(ends.flatMap((end) => one(text, end)).filter((end) => !all.has(end)))
      )
        for (const end of ends) all.add(end)
      return unique(sign === '*' ? [at, ...all] : [...all])
    }
  }

  #one(): Matcher {
    const token = this.#tokens[this.#at++] ?? ''
    if (token === '(') {
      const inside = this.read()
      this.#at++
      return inside
    }
    if (token === 'LF') return literal('\n')
    if (token.startsWith('"')) return literal(token.slice(1, -1))
    if (token.startsWith('[')) return pattern(WORDED[token] ?? new RegExp(token, 'y'))
    return (text, at) => this.#find(token)(text, at)
  }
}

function literal(expected: string): Matcher {
  return (text, at) => (text.startsWith(expected, at) ? [at + expected.length] : [])
}

function pattern(expression: RegExp): Matcher {
  return (text, at) => {
    expression.lastIndex = at
    const found = expression.exec(text)
    return found === null ? [] : [at + found[0].length]
  }
}

function unique(ends: readonly number[]): readonly number[] {
  return [...new Set(ends)]
}
