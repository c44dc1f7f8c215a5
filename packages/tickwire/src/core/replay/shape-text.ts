/**
 * Parses the canonical text of definitions: the inverse of `schema/fingerprint.ts`, for tools that have a recording and
 * not the game.
 *
 *   shape    {name:field;name:field}
 *   field    kind[@audience][~role[(of)]][=value]
 *   value    null | true | false | number | number n | "text" | [value,…] | {"name":value,…} | bytes[number,…]
 *
 * It throws `TextError` on invalid text; the caller catches it. Manual fields are the game's own code and cannot be
 * read without it.
 */

import { SCHEMA_DEPTH_MAX } from '../base/limits.ts'
import { Field, type Audience, type FieldSpec, type Shape } from '../schema/field.ts'

/** The text is not the text of a definition. */
export class TextError extends Error {
  override readonly name = 'TextError'
}

const AXES = ['x', 'y', 'z', 'w'] as const
const AUDIENCES: readonly string[] = ['team', 'owner', 'local', 'server']
const ROLES: readonly string[] = ['position', 'velocity', 'acceleration', 'angular-velocity']

/** Reads one shape. */
export function parseShape(text: string): Shape {
  const parser = new Parser(text)
  const shape = parser.shape()
  parser.end()
  return shape
}

class Parser {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  end(): void {
    if (this.#at !== this.#text.length) this.#wrong('the end')
  }

  shape(): Shape {
    // Deeper than any definition may be, including nested values: the text is invalid.
    if (++this.#depth > 4 * SCHEMA_DEPTH_MAX) this.#wrong('less depth')
    const fields: [string, Field<unknown>][] = []
    this.#expect('{')
    do {
      const name = this.#match(/[A-Za-z_]\w*/y)
      this.#expect(':')
      fields.push([name, this.#field()])
    } while (this.#skip(';'))
    this.#expect('}')
    this.#depth--
    return Object.fromEntries(fields)
  }

  #field(): Field<unknown> {
    const field = new Field<unknown>(this.#spec())
    const audience = this.#skip('@') ? this.#oneOf(AUDIENCES, /[a-z]+/y) : 'all'
    const role = this.#skip('~') ? this.#oneOf(ROLES, /[a-z-]+/y) : undefined
    const roleOf = role !== undefined && this.#skip('(') ? this.#match(/\w+(?=\))/y) : undefined
    if (roleOf !== undefined) this.#expect(')')
    const initial = this.#skip('=') ? this.#value() : undefined
    return new Field(field.spec, {
      ...field.options,
      audience: audience as Audience,
      role: role as Field<unknown>['options']['role'],
      roleOf,
      initial,
    })
  }

  #spec(): FieldSpec {
    const kind = this.#match(/[a-zA-Z][\w-]*/y)
    switch (kind) {
      case 'bool': case 'varint': case 'ref': return { kind }
      case 'u16': case 'u32': case 'i16': case 'i32':
        return { kind: 'word', bits: kind.endsWith('16') ? 16 : 32, signed: kind.startsWith('i') }
      case 'i64':
      case 'i64-word':
        return { kind: 'long', form: kind === 'i64' ? 'varint' : 'word' }
      case 'float':
      case 'float-any':
        return { kind: 'float', finite: kind === 'float' }
      case 'double':
      case 'double-any':
        return { kind: 'double', finite: kind === 'double' }
      case 'struct':
      case 'delta-struct':
        return { kind: 'struct', shape: this.shape(), perMember: kind === 'delta-struct' }
      case 'group':
        return { kind, shape: this.shape() }
      case 'manual':
        throw new TextError("a field is written by the game's own code (manual)")
      default:
        return this.#bounded(kind)
    }
  }

  /** Kinds with arguments in parentheses. */
  #bounded(kind: string): FieldSpec {
    this.#expect('(')
    const spec = this.#inside(kind)
    this.#expect(')')
    return spec
  }

  #inside(kind: string): FieldSpec {
    switch (kind) {
      case 'int': {
        const [min, max] = this.#numbers(2)
        return { kind, min, max }
      }
      case 'fixed': return { kind, ...this.#bounds() }
      case 'ranged-long': return { kind, min: this.#bigint(), max: (this.#expect(','), this.#bigint()) }
      case 'angle': case 'quat': return { kind, bits: this.#number() }
      case 'text': case 'bytes': return { kind, maxBytes: this.#number() }
      case 'fixed-text': return { kind, bytes: this.#number() }
      case 'vec2': case 'vec3': case 'vec4': return this.#vector(kind === 'vec2' ? 2 : kind === 'vec3' ? 3 : 4)
      case 'oneOf': return { kind: 'enum', names: this.#list(() => String(this.#value())) }
      case 'list': {
        if (++this.#depth > 4 * SCHEMA_DEPTH_MAX) this.#wrong('less depth')
        const item = this.#field()
        this.#depth--
        this.#expect(',')
        return { kind, item, maxItems: this.#number() }
      }
      default: return this.#wrong('a kind of field that this version knows')
    }
  }

  #vector(arity: 2 | 3 | 4): FieldSpec {
    const components = [this.#bounds()]
    while (this.#skip('|')) components.push(this.#bounds())
    const shape = Object.fromEntries(
      components.slice(0, arity).map((one, axis) => [AXES[axis], new Field<unknown>({ kind: 'fixed', ...one })]),
    )
    return { kind: 'vector', arity, components, shape }
  }

  #bounds(): { min: number; max: number; precision: number } {
    const [min, max, precision] = this.#numbers(3)
    return { min, max, precision }
  }

  #value(): unknown {
    if (this.#skip('null')) return null
    if (this.#skip('true')) return true
    if (this.#skip('false')) return false
    if (this.#skip('bytes[')) return Uint8Array.from(this.#closed(']', () => this.#number()))
    if (this.#text[this.#at] === '"') return this.#string()
    if (++this.#depth > 4 * SCHEMA_DEPTH_MAX) this.#wrong('less depth')
    const value = this.#nested()
    this.#depth--
    return value
  }

  #nested(): unknown {
    if (this.#skip('[')) return this.#closed(']', () => this.#value())
    if (this.#skip('{')) {
      return Object.fromEntries(this.#closed('}', () => [this.#string(), (this.#expect(':'), this.#value())] as const))
    }
    const number = this.#match(/(?:NaN|-?Infinity|[-+\d.e]+)n?/y)
    if (!number.endsWith('n')) return Number(number)
    return /^-?\d{1,20}n$/.test(number) ? BigInt(number.slice(0, -1)) : this.#wrong('a whole number')
  }

  #string(): string {
    const quoted = this.#match(/"(?:[^"\\]|\\.)*"/y)
    try {
      return String(JSON.parse(quoted))
    } catch {
      return this.#wrong('a text')
    }
  }

  #closed<T>(close: string, read: () => T): T[] {
    if (this.#skip(close)) return []
    const values = this.#list(read)
    this.#expect(close)
    return values
  }

  #list<T>(read: () => T): T[] {
    const values = [read()]
    while (this.#skip(',')) values.push(read())
    return values
  }

  #numbers(count: number): number[] {
    const numbers = [this.#number()]
    while (numbers.length < count) numbers.push((this.#expect(','), this.#number()))
    return numbers
  }

  #number(): number {
    return Number(this.#match(/[-+\d.e]+/y))
  }

  #bigint(): bigint {
    return BigInt(this.#match(/-?\d{1,20}(?=[,)])/y))
  }

  #oneOf(words: readonly string[], pattern: RegExp): string {
    const word = this.#match(pattern)
    return words.includes(word) ? word : this.#wrong(words.join(', '))
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #expect(text: string): void {
    if (!this.#skip(text)) this.#wrong(text)
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? this.#wrong(String(pattern))
    this.#at += found.length
    return found
  }

  #wrong(expected: string): never {
    throw new TextError(
      `expected ${expected} at "${this.#text.slice(Math.max(0, this.#at - 20), this.#at)}" `
        + `| "${this.#text.slice(this.#at, this.#at + 20)}"`,
    )
  }
}
