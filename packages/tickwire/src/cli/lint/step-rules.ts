/**
 * What code that `step` reaches may not do, found in the syntax of one module. The list of functions is the one of the
 * traps (`base/impure-functions.ts`); the rest are things that no trap can see: `**`, state of the module, `catch`.
 *
 * A module is judged as a whole: whatever `game.ts` imports may be called by `step`. A line with `lint-ok: reason` in a
 * comment, there or on the line before, is left out.
 */

import {
  BOOLEAN_COMPARATOR, exactTwinOf, IMPURE_FUNCTIONS, IMPURE_GLOBALS, INEXACT_MATH, SORTS,
} from '../../core/base/impure-functions.ts'
import { childrenOf, memberOf, nameOf, nodeAt, nodesAt, type SyntaxNode } from './syntax.ts'

/** A place in a module that makes peers differ. */
export interface StepFinding {
  /** The position in the text. */
  readonly at: number
  /** A word for the kind of finding. */
  readonly rule: string
  /** What is wrong. */
  readonly problem: string
  /** What to write instead. */
  readonly fix: string
}

const GLOBALS = new Map(
  [...IMPURE_GLOBALS, ...IMPURE_FUNCTIONS.filter(({ owner }) => owner === '')].map((each) => [each.name, each]),
)
const MEMBERS = new Map(
  IMPURE_FUNCTIONS.filter(({ owner }) => owner !== '').map((each) => [`${each.owner}.${each.name}`, each]),
)
/** Objects of the machine: whatever is read from them differs. */
const MACHINE: ReadonlySet<string> = new Set([
  'performance', 'crypto', 'process', 'navigator', 'window', 'document', 'globalThis', 'fetch', 'localStorage',
  'requestAnimationFrame', 'setImmediate', 'WeakRef', 'FinalizationRegistry',
])
const LOCALES = new Map(
  // The first of two with one name counts.
  IMPURE_FUNCTIONS.filter(({ owner }) => owner.endsWith('.prototype')).reverse().map((each) => [each.name, each]),
)
const COLLECTIONS: ReadonlySet<string> = new Set(['Map', 'Set', 'WeakMap', 'WeakSet'])
/** Calls that change an array or a collection. */
const CHANGES: ReadonlySet<string> = new Set([
  'push', 'pop', 'shift', 'unshift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin', 'set', 'add', 'delete', 'clear',
])
const COMPARISONS: ReadonlySet<string> = new Set(['<', '>', '<=', '>=', '==', '===', '!=', '!==', 'in', 'instanceof'])
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'PropertyDefinition', 'StaticBlock',
])
/** Nodes of TypeScript that contain an expression which runs. All others are types. */
const RUNNING: ReadonlySet<string> = new Set([
  'TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression', 'TSTypeAssertion', 'TSInstantiationExpression',
  'TSEnumDeclaration', 'TSEnumMember', 'TSExportAssignment', 'TSParameterProperty',
])

const STATE_PROBLEM = 'an image of the world does not have it'
const STATE_FIX = 'keep it in an entity, or in `external` of the game'

/** The findings in a module, by position. */
export function findInStep(program: SyntaxNode, text: string): readonly StepFinding[] {
  const search = new Search(program)
  search.visit(program, [])
  search.finish(text)
  const lines = text.split('\n')
  return search.found
    .filter(({ at }) => {
      const line = text.slice(0, at).split('\n').length - 1
      return !/lint-ok: \S/.test(`${lines[line - 1] ?? ''}\n${lines[line] ?? ''}`)
    })
    .sort((a, b) => a.at - b.at)
}

class Search {
  readonly found: StepFinding[] = []
  /** Names that the module declares anywhere: they are not the global ones. */
  readonly #declared = new Set<string>()
  /** Constants of the module, and the places where a part of one is changed. */
  readonly #constants = new Map<string, { readonly node: SyntaxNode; readonly changes: SyntaxNode[] }>()

  constructor(program: SyntaxNode) {
    this.#collect(program)
    for (const each of nodesAt(program, 'body')) {
      const declaration = each.type === 'ExportNamedDeclaration' ? nodeAt(each, 'declaration') : each
      if (declaration?.type !== 'VariableDeclaration') continue
      for (const node of nodesAt(declaration, 'declarations'))
        this.#constants.set(nameOf(nodeAt(node, 'id')), { node, changes: [] })
    }
  }

  visit(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    if (node.type.startsWith('TS') && !RUNNING.has(node.type)) return
    if (node['declare'] === true) return
    this.#judge(node, above)
    for (const child of childrenOf(node)) this.visit(child, [...above, node])
  }

  #judge(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    switch (node.type) {
      case 'Identifier':
        return this.#judgeName(node, above)
      case 'MemberExpression':
        return this.#judgeMember(node)
      case 'VariableDeclarator':
        return this.#judgeUnpacked(node)
      case 'VariableDeclaration':
        if (!isInside(above) && node['kind'] !== 'const')
          this.#add(node, 'state', `${String(node['kind'])} of the module: ${STATE_PROBLEM}`, STATE_FIX)
        return
      case 'BinaryExpression':
      case 'AssignmentExpression':
        return this.#judgeOperator(node, above)
      case 'UpdateExpression':
        return this.#judgeChange(node, nodeAt(node, 'argument'), above)
      case 'NewExpression':
        return this.#judgeNew(node, above)
      case 'CallExpression':
        return this.#judgeCall(node, above)
      case 'CatchClause':
        return this.#add(node, 'catch', 'catch: how deep a stack is, and which errors an engine throws, differs',
          'test for the case before the call')
    }
  }

  #judgeName(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    const name = nameOf(node)
    const parent = above[above.length - 1]
    if (this.#declared.has(name) || parent === undefined || !isReference(node, parent)) return
    const known = GLOBALS.get(name)
    if (known !== undefined) this.#add(node, 'ambient', `${name}: ${known.problem}`, known.fix)
    else if (MACHINE.has(name) && !(parent.type === 'MemberExpression' && MEMBERS.has(`${name}.${memberOf(parent)}`)))
      this.#add(node, 'ambient', `${name}: another on every machine`, 'pass what is needed in an order')
    // `Math` that is passed on could be used for anything.
    else if (name === 'Math' && parent.type !== 'MemberExpression' && parent.type !== 'VariableDeclarator')
      this.#add(node, 'inexact-math', 'Math as a value: its functions cannot be checked', 'write Math.name')
  }

  #judgeMember(node: SyntaxNode): void {
    const object = nodeAt(node, 'object')
    const owner = nameOf(object)
    const member = memberOf(node)
    const locale = LOCALES.get(member)
    if (locale !== undefined) this.#add(node, 'locale', `${member}: ${locale.problem}`, locale.fix)
    if (object?.type !== 'Identifier' || this.#declared.has(owner)) return
    const known = MEMBERS.get(`${owner}.${member}`)
    if (known !== undefined) this.#add(node, ruleOf(owner, member), `${owner}.${member}: ${known.problem}`, known.fix)
    else if (owner === 'Math' && member === '')
      this.#add(node, 'inexact-math', 'Math[…]: which function it is cannot be checked', 'write Math.name')
  }

  /** `const { sin } = Math` */
  #judgeUnpacked(node: SyntaxNode): void {
    const from = nodeAt(node, 'init')
    if (nameOf(from) !== 'Math' || this.#declared.has('Math')) return
    const pattern = nodeAt(node, 'id')
    if (from === undefined || pattern?.type !== 'ObjectPattern')
      return this.#add(node, 'inexact-math', 'Math as a value: its functions cannot be checked', 'write Math.name')
    for (const property of nodesAt(pattern, 'properties')) {
      const known = MEMBERS.get(`Math.${nameOf(nodeAt(property, 'key'))}`)
      if (known !== undefined)
        this.#add(property, ruleOf('Math', known.name), `Math.${known.name}: ${known.problem}`, known.fix)
    }
  }

  #judgeOperator(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    const operator = String(node['operator'])
    if (operator === '**' || operator === '**=') {
      const isConstant = [nodeAt(node, 'left'), nodeAt(node, 'right')].every((side) => isNumber(side))
      if (!isConstant)
        this.#add(node, 'inexact-math', `${operator}: not the same bits on every engine`, exactTwinOf('pow'))
    }
    if (node.type === 'AssignmentExpression') this.#judgeChange(node, nodeAt(node, 'left'), above)
  }

  /** A change of a part of a constant of the module. Variables are found where they are declared. */
  #judgeChange(node: SyntaxNode, target: SyntaxNode | undefined, above: readonly SyntaxNode[]): void {
    if (target?.type !== 'MemberExpression' || !isInside(above)) return
    const name = nameOf(rootOf(target))
    if (!isShadowed(name, above)) this.#constants.get(name)?.changes.push(node)
  }

  /** Constants are reported where they are declared, once. */
  finish(text: string): void {
    for (const [name, { node, changes: [first, ...others] }] of this.#constants) {
      if (first === undefined) continue
      const line = text.slice(0, first.start).split('\n').length
      const where = others.length === 0 ? `in line ${line}` : `in line ${line} and others`
      this.#add(node, 'state', `${name} of the module is changed ${where}: ${STATE_PROBLEM}`, STATE_FIX)
    }
  }

  #judgeNew(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    const name = nameOf(nodeAt(node, 'callee'))
    if (!COLLECTIONS.has(name) || this.#declared.has(name) || isInExternal(above)) return
    // One of the module is a table, unless it is changed, which is found there.
    if (!isInside(above)) return
    this.#add(
      node, 'collection', `${name}: its order is the one of insertion, and a world from an image has another`,
      'use an entity, an array by id, or `external` of the game',
    )
  }

  #judgeCall(node: SyntaxNode, above: readonly SyntaxNode[]): void {
    const callee = nodeAt(node, 'callee')
    if (callee?.type !== 'MemberExpression') return
    const member = memberOf(callee)
    const [compare] = nodesAt(node, 'arguments')
    if (SORTS.includes(member) && compare !== undefined && returnsBoolean(compare))
      this.#add(compare, 'comparator', `${member}: ${BOOLEAN_COMPARATOR.problem}`, BOOLEAN_COMPARATOR.fix)
    if (CHANGES.has(member)) this.#judgeChange(node, callee, above)
  }

  #add({ start }: SyntaxNode, rule: string, problem: string, fix: string): void {
    this.found.push({ at: start, rule, problem, fix })
  }

  /** Collects the names that are declared in the module, at any depth. */
  #collect(node: SyntaxNode): void {
    if (node.type.startsWith('TS') && !RUNNING.has(node.type)) return
    const targets = [
      ...(node.type === 'VariableDeclarator' || FUNCTIONS.has(node.type) || node.type === 'ClassDeclaration'
        ? [nodeAt(node, 'id'), ...nodesAt(node, 'params')] : []),
      ...(node.type.startsWith('Import') ? [nodeAt(node, 'local')] : []),
      ...(node.type === 'CatchClause' ? [nodeAt(node, 'param')] : []),
    ]
    for (const target of targets) if (target !== undefined) for (const name of namesIn(target)) this.#declared.add(name)
    for (const child of childrenOf(node)) this.#collect(child)
  }
}

function ruleOf(owner: string, name: string): string {
  return owner === 'Math' && INEXACT_MATH.includes(name) ? 'inexact-math' : 'ambient'
}

/** Names that a pattern declares. */
function* namesIn(node: SyntaxNode): Generator<string> {
  if (node.type === 'Identifier') yield nameOf(node)
  else if (node.type === 'Property') yield* namesIn(nodeAt(node, 'value') ?? node)
  else if (node.type === 'AssignmentPattern') yield* namesIn(nodeAt(node, 'left') ?? node)
  else if (/Pattern$|^RestElement$|^TSParameterProperty$/.test(node.type))
    for (const child of childrenOf(node)) yield* namesIn(child)
}

/** Whether an identifier is read here, and is not a key or a label. */
function isReference(node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type === 'MemberExpression') return parent['object'] === node || parent['computed'] === true
  if (/^(Property|PropertyDefinition|MethodDefinition)$/.test(parent.type))
    return parent['key'] !== node || parent['computed'] === true || parent['shorthand'] === true
  return !/^(Import|Export|Label|Break|Continue)/.test(parent.type)
}

function isInside(above: readonly SyntaxNode[]): boolean {
  return above.some(({ type }) => FUNCTIONS.has(type))
}

/** Whether the place is in the function or object `external` of a definition. */
function isInExternal(above: readonly SyntaxNode[]): boolean {
  return above.some((node) => /^(Property|Method)/.test(node.type) && nameOf(nodeAt(node, 'key')) === 'external')
}

/** Whether a function around the place has a name of its own that is the same. */
function isShadowed(name: string, above: readonly SyntaxNode[]): boolean {
  return above.some((node) => {
    if (node.type === 'BlockStatement' || node.type === 'StaticBlock')
      return nodesAt(node, 'body').some((each) => each.type === 'VariableDeclaration' && declares(each, name))
    if (node.type === 'ForStatement') return declares(nodeAt(node, 'init'), name)
    if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') return declares(nodeAt(node, 'left'), name)
    return nodesAt(node, 'params').some((param) => [...namesIn(param)].includes(name))
  })
}

function declares(node: SyntaxNode | undefined, name: string): boolean {
  return node !== undefined && nodesAt(node, 'declarations').some((each) => {
    const id = nodeAt(each, 'id')
    return id !== undefined && [...namesIn(id)].includes(name)
  })
}

function rootOf(node: SyntaxNode): SyntaxNode | undefined {
  let root: SyntaxNode | undefined = node
  while (root !== undefined && root.type !== 'Identifier') root = nodeAt(root, 'object') ?? nodeAt(root, 'expression')
  return root
}

function isNumber(node: SyntaxNode | undefined): boolean {
  if (node?.type === 'UnaryExpression') return isNumber(nodeAt(node, 'argument'))
  return node?.type === 'Literal' && (typeof node['value'] === 'number' || typeof node['value'] === 'bigint')
}

/** Whether a comparator returns true or false, as far as its text says. */
function returnsBoolean(node: SyntaxNode): boolean {
  const body = nodeAt(node, 'body')
  if (!FUNCTIONS.has(node.type) || body === undefined) return false
  if (body.type !== 'BlockStatement') return isBoolean(body)
  return returnsOf(body).some((each) => isBoolean(each))
}

function returnsOf(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type === 'ReturnStatement') {
    const value = nodeAt(node, 'argument')
    return value === undefined ? [] : [value]
  }
  return FUNCTIONS.has(node.type) ? [] : [...childrenOf(node)].flatMap(returnsOf)
}

function isBoolean(node: SyntaxNode): boolean {
  const inner = node.type.startsWith('TS') ? nodeAt(node, 'expression') : undefined
  if (inner !== undefined) return isBoolean(inner)
  if (node.type === 'Literal') return typeof node['value'] === 'boolean'
  if (node.type === 'BinaryExpression') return COMPARISONS.has(String(node['operator']))
  if (node.type === 'UnaryExpression') return node['operator'] === '!'
  if (node.type === 'LogicalExpression' || node.type === 'ConditionalExpression') {
    const last = nodeAt(node, 'right') ?? nodeAt(node, 'consequent')
    return last !== undefined && isBoolean(last)
  }
  return false
}
