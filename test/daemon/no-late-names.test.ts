import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const folder = new URL('../../src/daemon/', import.meta.url).pathname

/** Returns the variables of a source that are named further up than they are declared, in a callback as well. */
function lateNames(text: string): string[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const late: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) late.push(...lateIn(node))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return late
}

function lateIn(block: ts.Block): string[] {
  const declared = new Map<string, number>()
  for (const statement of block.statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name } of statement.declarationList.declarations)
      for (const bound of boundBy(name)) declared.set(bound, statement.pos)
  }
  const late: string[] = []
  const visit = (node: ts.Node): void => {
    const at = ts.isIdentifier(node) && isReference(node) ? declared.get(node.text) : undefined
    if (at !== undefined && node.pos < at) late.push(node.getText())
    ts.forEachChild(node, visit)
  }
  visit(block)
  return late
}

function boundBy(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundBy(element.name)))
}

/** The name of a property, of a parameter or of a declaration refers to nothing. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  return !(ts.isBindingElement(parent) || ts.isParameter(parent) || ts.isPropertySignature(parent))
}

test('a name that is used before it is declared is found, in a callback too', () => {
  const late = 'function start() { on(() => menus.again()); const menus = make({ menus: 1 }) }'
  const early = 'function start() { const menus = make(); on(({ menus }) => menus.again()) }'
  expect(lateNames(late)).toEqual(['menus'])
  expect(lateNames(early)).toEqual([])
})

test('the composition root names nothing before it is made', () => {
  const late = readdirSync(folder).flatMap((file) =>
    lateNames(readFileSync(join(folder, file), 'utf8')).map((name) => `${file}: ${name}`),
  )
  expect(late).toEqual([])
})
