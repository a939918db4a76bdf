import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { REGISTER } from './faults/register.ts'
import { codesOf, numbersOf } from './title-codes.ts'

const root = new URL('..', import.meta.url).pathname
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function files(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
}

/** A text of the repository in which something may be cited. */
interface Passage {
  readonly path: string
  readonly text: string
}

const PAGES = ['sessions', 'runner', 'tools', 'scope', 'contract'].map((page) => `src/behaviour/${page}.md`)
const STATEMENTS = PAGES.flatMap((page) =>
  [...read(page).matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map(([, one = '']) => one),
)
const KNOWN = new Set([...STATEMENTS, ...REGISTER.map(({ code }) => code)])
const FAILPOINTS = new Set([...read('src/core/failpoint.ts').matchAll(/'(CP\d+)-/g)].map(([, point = '']) => point))

/** How long the list of open statements is: lower it with every statement that gets a test, and never raise it. */
const MOST_OPEN = 0

/** As wide as a line of code may be. */
const MOST_COLUMNS = 120

/** Codes of others: an engine, a range of control characters, ids of the Slack examples. */
const FOREIGN = new Set(['V8', 'C0', 'U1', 'U333', 'U444', 'U555', 'T01'])

const everywhere = ['src', 'adapters', 'test'].flatMap(files)

/** Folders in which every comment begins like a sentence with a subject and a verb. */
const IN_SENTENCES = ['src/', 'adapters/']

/** A page that several folders have may be cited by its name. */
const NAMES = new Set(
  [...everywhere, ...files('config')].filter((path) => path.endsWith('.md')).map((path) => basename(path)),
)

describe('references', () => {
  const sources = everywhere.filter((path) => /\.(ts|[cm]js)$/.test(path))
  const passages: Passage[] = [
    ...sources.flatMap((path) => commentsOf(path).map((text) => ({ path, text }))),
    ...[...everywhere, 'README.md'].filter((path) => path.endsWith('.md')).map((path) => ({ path, text: read(path) })),
    ...['config', 'systemd'].flatMap(files).flatMap((path) => hashComments(path).map((text) => ({ path, text }))),
  ]
  const titles = sources.flatMap(titlesOf)

  it('every code in a comment or a page is a statement, a fault case or a failpoint', () => {
    expect(named(passages, unknownCodes)).toEqual([])
  })

  it('every code in the title of a test is a statement or a fault case', () => {
    expect(named(titles, unknownCodes)).toEqual([])
  })

  it('no comment and no title cites a page, a section or a row that is not in the repository', () => {
    expect(named([...passages, ...titles], absentPages)).toEqual([])
  })

  const comments = passages.filter(
    ({ path }) => /\.(ts|cjs)$/.test(path) && IN_SENTENCES.some((folder) => path.startsWith(folder)),
  )

  it('no comment begins with a question word, as half a sentence does', () => {
    expect(comments.length).toBeGreaterThan(0)
    expect(named(comments, halfSentences)).toEqual([])
  })

  it('comments and pages use the words of the field, and no comment is wider than a line of code', () => {
    const pages = passages.filter(({ path }) => path.endsWith('.md') && !path.startsWith('src/rehearsal/'))
    expect(pages.length).toBeGreaterThan(0)
    expect(named([...comments, ...pages], otherWords)).toEqual([])
    expect(named(comments, wideLines)).toEqual([])
  })
})

describe('statements', () => {
  const open = [...read('src/behaviour/open.md').matchAll(/^\| ((?:[A-Z]\d+(?:, )?)+) \| \S/gm)].flatMap(
    ([, cell = '']) => cell.split(', '),
  )
  const tested = new Set(
    files('test')
      .filter((path) => /\.(test\.ts|json)$/.test(path) || path.startsWith('test/contracts/'))
      .flatMap(titlesOf)
      .flatMap(({ text }) => codesOf(text)),
  )

  it('each has one number', () => {
    expect(STATEMENTS.length).toBeGreaterThan(0)
    expect(new Set(STATEMENTS).size).toBe(STATEMENTS.length)
  })

  it('each has a test, or stands in the list of open ones with what it waits for', () => {
    expect(STATEMENTS.filter((one) => !tested.has(one) && !open.includes(one))).toEqual([])
  })

  it('the list of open ones has none twice, none with a test and none that is not there', () => {
    expect(new Set(open).size).toBe(open.length)
    expect(open.filter((one) => tested.has(one) || !STATEMENTS.includes(one))).toEqual([])
  })

  it('the list of open ones only gets shorter, and its length here with it', () => {
    expect(open.length).toBe(MOST_OPEN)
  })
})

function named(passages: readonly Passage[], find: (passage: Passage) => readonly string[]): string[] {
  return passages.flatMap((passage) => find(passage).map((what) => `${passage.path}: ${what}`))
}

/** `CP12` is a failpoint, `F-A09` a fault case, `K33-K36` a range of statements. */
function unknownCodes({ text }: Passage): string[] {
  return [...text.matchAll(/(?<![\w/:#@<-])(?:F-)?[A-Z]{1,2}\d{1,3}(?:-[SRTKC]\d{1,3})?(?![\w/])/g)]
    .map(([code]) => code)
    .filter((code) => {
      if (FOREIGN.has(code) || FAILPOINTS.has(code)) return false
      return !(code.startsWith('F-') ? [code] : numbersOf(code)).every((one) => KNOWN.has(one))
    })
}

/** Returns the beginning of a comment, or of one of its lines, that has no subject: `Of the last run`. */
function halfSentences({ text }: Passage): string[] {
  return [...text.matchAll(/^\s*(?:\/\*\*|\*|\/\/) (?:What|Who|Of|As|How|Whom|Whose|Where|Whether)\b.*/gm)].map(
    ([line]) => line.trim(),
  )
}

/** Returns words for which the field has one of its own: character, notify, receive, resume, continue, drop, empty. */
function otherWords({ text }: Passage): string[] {
  const prose = text.replaceAll(/```.*?```|`[^`]*`|"[^"]*"/gs, '')
  const words =
    /\b(?:tells?|told|hears?|heard|signs?|blank|(?:goes|go|went) on|(?:takes?|took|taken) (?:in|up)|lets? go)\b/g
  return [...prose.matchAll(words)].map(([word]) => word)
}

function wideLines({ text }: Passage): string[] {
  return text.split('\n').filter((line) => line.length > MOST_COLUMNS)
}

/** A page by its file, a decision by its number, a part of a page in capitals by its number. */
function absentPages({ path, text }: Passage): string[] {
  const pages = [...text.matchAll(/(?<![\w<])[\w./-]*[\w-]+\.md\b/g)].map(([page]) => page)
  const decisions = [...text.matchAll(/\b[Dd]ecisions? (\d+)/g)].map(([, number = '']) => number)
  const called = /\b[A-Z]{5,},? (?:\d{1,2}(?:\.\d)?(?![\d.])|(?:section|rule|row|decision) \d+)/g
  const numbered = /(?:^|[(,] ?)(?:section|rule|row) \d+(?=[:)])/g
  const parts = [...text.matchAll(called), ...text.matchAll(numbered)]
  return [
    ...pages.filter(
      (page) => !['', 'src', dirname(path)].some((folder) => existsSync(join(root, folder, page))) && !NAMES.has(page),
    ),
    ...decisions.filter(
      (number) => !readdirSync(join(root, 'src/decisions')).some((name) => name.startsWith(`${number}-`)),
    ),
    ...parts.map(([part]) => part),
  ]
}

/** Returns the comments of a source, each once. */
function commentsOf(path: string): string[] {
  const text = read(path)
  const found = new Map<number, string>()
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) found.set(pos, text.slice(pos, end))
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.end) ?? []) found.set(pos, text.slice(pos, end))
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return [...found.values()]
}

const hashComments = (path: string): string[] => [...read(path).matchAll(/(?:^|\s)#.*/g)].map(([line]) => line)

/**
 * Returns the titles of tests: those that `it`, `test` and `describe` are called with, and those of recorded payloads.
 */
function titlesOf(path: string): Passage[] {
  if (path.endsWith('.json'))
    return [...read(path).matchAll(/^ {2}"title": "([^"]*)/gm)].map(([, text = '']) => ({ path, text }))
  const found: Passage[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [first] = node.arguments
      if (first !== undefined && ts.isStringLiteralLike(first)) found.push({ path, text: first.text })
      if (first !== undefined && ts.isTemplateExpression(first))
        found.push({
          path,
          text: [first.head, ...first.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…'),
        })
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest))
  return found
}

/** `it`, `test.each(table)`, `describe.skipIf(…)`; what is skipped for good proves nothing. */
function isTest(called: ts.Node): boolean {
  if (ts.isIdentifier(called)) return ['it', 'test', 'describe'].includes(called.text)
  if (ts.isPropertyAccessExpression(called))
    return !['skip', 'todo'].includes(called.name.text) && isTest(called.expression)
  return (
    (ts.isCallExpression(called) || ts.isTaggedTemplateExpression(called)) &&
    isTest(ts.isCallExpression(called) ? called.expression : called.tag)
  )
}
