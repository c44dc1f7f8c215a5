/**
 * TypeScript as a tree, by acorn with its TypeScript plugin. Both are optional packages, and loaded only here: no other
 * command needs them (docs/adr/0051).
 */

import { UsageError } from '../command.ts'

/** A node of the tree (ESTree, with nodes of TypeScript). */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Reads the text of a module. Throws a SyntaxError with `loc`. */
export type Parse = (text: string) => SyntaxNode

interface Acorn {
  readonly Parser: {
    extend(plugin: unknown): {
      parse(text: string, options: object): unknown
    }
  }
}

/** Loads the parser. Throws a UsageError that says what to install. */
export async function loadParser(): Promise<Parse> {
  // The names are variables, so that the compiler and bundlers do not look for packages that may not be there.
  const [acornName, pluginName] = ['acorn', '@sveltejs/acorn-typescript']
  let parts: readonly [Acorn, { tsPlugin(): unknown }]
  try {
    parts = [await import(acornName) as Acorn, await import(pluginName) as { tsPlugin(): unknown }]
  } catch {
    throw new UsageError(`no parser is installed. Fix: npm install --save-dev ${acornName} ${pluginName}.`)
  }
  const [{ Parser }, { tsPlugin }] = parts
  const parser = Parser.extend(tsPlugin())
  return (text) =>
    parser.parse(text, { sourceType: 'module', ecmaVersion: 'latest', locations: true }) as SyntaxNode
}

/** The nodes directly below a node. */
export function* childrenOf(node: SyntaxNode): Generator<SyntaxNode> {
  for (const value of Object.values(node)) {
    if (isNode(value)) yield value
    else if (Array.isArray(value)) for (const each of value) if (isNode(each)) yield each
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** A field of a node that is a node. */
export function nodeAt(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = node[field]
  return isNode(value) ? value : undefined
}

/** A field of a node that is a list of nodes. */
export function nodesAt(node: SyntaxNode, field: string): readonly SyntaxNode[] {
  const value = node[field]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** The name of an identifier, or of a text in brackets. */
export function nameOf(node: SyntaxNode | undefined): string {
  if (node?.type === 'Identifier') return String(node['name'])
  return node?.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : ''
}

/** The name of the member in `object.name` or `object['name']`. */
export function memberOf(node: SyntaxNode): string {
  const property = nodeAt(node, 'property')
  return node['computed'] === true && property?.type === 'Identifier' ? '' : nameOf(property)
}
