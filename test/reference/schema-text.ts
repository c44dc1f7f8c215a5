/**
 * Reads the canonical text of a schema back into fields, so that a vector needs nothing but its text to be understood.
 * Written from the grammar in docs/wire/STATE.md; imports nothing from src but types. The text of a manual field does
 * not say what its bits mean: a reader needs the game's own codec, by the format that the text names.
 */

import type { FieldOptions, FieldSpec, ManualTwins } from '../../packages/tickwire/src/core/schema/field.ts'
import { BitSource } from './bits-reference.ts'
import { decodeField, type Plain, type PlainShape } from './schema-reference.ts'

/** Codecs of manual fields, by format. */
export type Manuals = { readonly [format: string]: ManualTwins<never> }

/** The shape a canonical text describes. */
export function parseSchemaText(text: string, manuals: Manuals = {}): PlainShape {
  const parser = new Parser(text, manuals)
  const shape = parser.shape()
  parser.end()
  return shape
}

const AXES = ['x', 'y', 'z', 'w'] as const

class Parser {
  readonly #text: string
  readonly #manuals: Manuals
  #at = 0

  constructor(text: string, manuals: Manuals) {
    this.#text = text
    this.#manuals = manuals
  }

  end(): void {
    if (this.#at !== this.#text.length) this.#wrong('the end')
  }

  shape(): PlainShape {
    const fields: [string, Plain][] = []
    this.#expect('{')
    do {
      const name = this.#match(/[A-Za-z_]\w*/y)
      this.#expect(':')
      fields.push([name, this.#field()])
    } while (this.#skip(';'))
    this.#expect('}')
    return Object.fromEntries(fields)
  }

  #field(): Plain {
    const spec = this.#spec()
    const audience = (this.#skip('@') ? this.#match(/[a-z]+/y) : 'all') as FieldOptions['audience']
    const role = this.#skip('~') ? (this.#match(/[a-z-]+/y) as FieldOptions['role']) : undefined
    const roleOf = role !== undefined && this.#skip('(') ? this.#match(/\w+(?=\))/y) : undefined
    if (roleOf !== undefined) this.#expect(')')
    const initial = !this.#skip('=')
      ? undefined
      : spec.kind === 'manual'
        ? decodeField(new BitSource(this.#bits()), { spec } as Plain)
        : this.#value()
    return { spec, options: { audience, blend: undefined, role, rateHz: undefined, roleOf, initial } }
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
        return { kind: 'struct', shape: this.shape() as never, perMember: kind === 'delta-struct' }
      case 'group':
        return { kind, shape: this.shape() as never }
      default:
        return this.#bounded(kind)
    }
  }

  /** Kinds with something in parentheses. */
  #bounded(kind: string): FieldSpec {
    this.#expect('(')
    const spec = this.#inside(kind)
    this.#expect(')')
    return spec
  }

  #inside(kind: string): FieldSpec {
    switch (kind) {
      case 'int': case 'fixed': {
        const [min, max, precision] = this.#numbers()
        return (kind === 'int' ? { kind, min, max } : { kind, min, max, precision }) as FieldSpec
      }
      case 'ranged-long': return { kind, min: this.#bigint(), max: (this.#expect(','), this.#bigint()) }
      case 'angle': case 'quat': return { kind, bits: this.#number() }
      case 'text': case 'bytes': return { kind, maxBytes: this.#number() }
      case 'fixed-text': return { kind, bytes: this.#number() }
      case 'vec2': case 'vec3': case 'vec4': return this.#vector()
      case 'oneOf': return { kind: 'enum', names: this.#list(() => this.#value() as string) }
      case 'list': {
        const item = this.#field()
        this.#expect(',')
        return { kind, item: item as never, maxItems: this.#number() }
      }
      case 'manual': {
        const format = this.#value() as string
        const codec = this.#manuals[format] ?? this.#wrong('a format that is known')
        this.#expect(',')
        this.#bits()
        return { kind, codec }
      }
      default: return this.#wrong('a kind of field')
    }
  }

  /** Bits as their count and their bytes. */
  #bits(): string {
    const [count = '', hex = ''] = this.#match(/\d+:[0-9a-f]*/y).split(':')
    return Array.from(hex, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0'))
      .join('')
      .slice(0, Number(count))
  }

  #vector(): FieldSpec {
    const components = [this.#numbers()]
    while (this.#skip('|')) components.push(this.#numbers())
    const bounds = components.map(([min = NaN, max = NaN, precision = NaN]) => ({ min, max, precision }))
    const options = {
      audience: 'all',
      blend: undefined,
      role: undefined,
      roleOf: undefined,
      initial: undefined,
    } as const
    const shape = Object.fromEntries(
      bounds.map((one, axis) => [AXES[axis], { spec: { kind: 'fixed', ...one }, options }]),
    )
    return { kind: 'vector', arity: bounds.length as 2 | 3 | 4, components: bounds, shape: shape as never }
  }

  #value(): unknown {
    if (this.#skip('null')) return null
    if (this.#skip('true')) return true
    if (this.#skip('false')) return false
    if (this.#skip('bytes[')) return Uint8Array.from(this.#closed(']', () => this.#number()))
    if (this.#skip('[')) return this.#closed(']', () => this.#value())
    if (this.#skip('{'))
      return Object.fromEntries(this.#closed('}', () => [this.#value(), (this.#expect(':'), this.#value())]))
    if (this.#text[this.#at] === '"') return JSON.parse(this.#match(/"(?:[^"\\]|\\.)*"/y))
    const number = this.#match(/(?:NaN|-?Infinity|[-+\d.e]+)n?/y)
    return number.endsWith('n') ? BigInt(number.slice(0, -1)) : Number(number)
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

  #numbers(): number[] {
    return this.#list(() => this.#number())
  }

  #number(): number {
    return Number(this.#match(/[-+\d.e]+/y))
  }

  #bigint(): bigint {
    return BigInt(this.#match(/-?\d+/y))
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
    throw new Error(`expected ${expected} at ${this.#text.slice(0, this.#at)}▸${this.#text.slice(this.#at)}`)
  }
}
