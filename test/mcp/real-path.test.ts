import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { absolutePath, leadsInto } from '../../src/mcp/real-path.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-bounds-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))
const notes = join(top, 'notes')
const outside = join(top, 'outside')
for (const folder of [notes, join(notes, 'sub'), outside]) mkdirSync(folder)
mkdirSync(join(top, 'notes-of-others'))
writeFileSync(join(outside, 'secret.txt'), 'canary')
writeFileSync(join(notes, 'milk.txt'), 'two litres')
const LINKS = {
  'to-outside': outside,
  'to-secret': join(outside, 'secret.txt'),
  'to-nothing': join(outside, 'new.txt'),
  'to-parent': '..',
  'to-sibling': '../outside',
  'to-link': 'to-outside',
  'to-itself': 'to-itself',
  'to-sub': 'sub',
  'to-sub-and-back': 'sub/../../outside',
  'to-missing-and-back': 'none/../../outside',
  'to-root': '/proc/self/root',
}
for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(notes, name))
symlinkSync(notes, join(top, 'alias'))
symlinkSync(join(notes, 'milk.txt'), join(outside, 'into-notes'))

const base = { folder: notes, home: join(top, 'home') }
const reaches = async (text: string, folders = [notes]): Promise<boolean> => {
  const meant = absolutePath(text, base)
  return meant !== undefined && (await leadsInto(folders, meant.path))
}

describe('C47: a path', () => {
  it.each([
    ...[notes, `${notes}/`, '.', 'milk.txt', `${notes}/milk.txt`, './sub/../milk.txt', 'sub/new/deeper/file.txt'],
    ...['to-sub', 'to-sub/new.txt', `file://${notes}/milk.txt`, `file://localhost${notes}/milk.txt`, 'a b.txt'],
    ...['año.txt', 'ヽ〜.txt', '...', '..a', 'a..', "O'Brien.txt", '100%.txt', '-rf', `${notes}//milk.txt`],
  ])('that leads into the folder passes: %s', async (text) => {
    expect(await reaches(text)).toBe(true)
  })

  it.each([
    ...['..', '/', '/etc/passwd', '../outside/secret.txt', 'sub/../../outside', `${notes}/../outside`, outside],
    ...[`${top}/notes-of-others`, `${top}/NOTES`, '~', '~/x', '~root/x', `file://${outside}/secret.txt`],
    ...['to-outside', 'to-outside/secret.txt', 'to-outside/new.txt', 'to-secret', 'to-nothing', 'to-parent'],
    ...['to-parent/outside', 'to-sibling', 'to-link', 'to-link/new.txt', 'to-itself', 'to-sub-and-back'],
    ...['to-missing-and-back', 'to-root', 'to-root/etc', 'milk.txt/x', `${outside}/into-notes`],
  ])('that leads elsewhere is refused: %s', async (text) => {
    expect(await reaches(text)).toBe(false)
  })

  it.each([
    ...['', ' ', ' milk.txt', 'milk.txt ', '"milk.txt"', "milk.txt'", `${notes}/.."`, `${notes}/.. /outside`],
    ...['milk\0.txt', 'milk.txt\0', 'milk\n', '\u202emilk', '\ud800', 'a\ud800/b', 'sub\\milk.txt', '..\\outside'],
    ...['%2e%2e/outside', 'sub/%2E%2e/x', 'a%2fb', '%252e%252e/x', 'a%00', '．．/outside', 'a／b', '‥/outside'],
    ...['http://localhost/x', 'data:,x', 'C:\\x', 'c:/x', `FILE://other${notes}`, `file://${notes}/%2e%2e%2foutside`],
    ...[`file://${notes}?x`, `file://${notes}/a%00`, `file://${notes}/a%5cb`, 'x'.repeat(5_000)],
  ])('that two programs may read in two ways is none: %j', (text) => {
    expect(absolutePath(text, base)).toBeUndefined()
  })

  it('is passed on without anything that is left to expand', () => {
    expect(absolutePath('sub/../milk.txt', base)?.passed).toBe(join(notes, 'milk.txt'))
    expect(absolutePath('~/x', base)?.passed).toBe(join(top, 'home', 'x'))
    expect(absolutePath(`file://localhost${notes}/a%20b`, base)?.passed).toBe(`file://${notes}/a%20b`)
  })

  it('of a server that runs elsewhere has to be absolute', () => {
    expect(absolutePath('milk.txt', {})).toBeUndefined()
    expect(absolutePath('~/milk.txt', {})).toBeUndefined()
    expect(absolutePath('/milk.txt', {})).toEqual({ path: '/milk.txt', passed: '/milk.txt' })
  })

  it('is measured by where the folder really is, and by each of several', async () => {
    expect(await reaches(join(top, 'alias', 'milk.txt'), [join(top, 'alias')])).toBe(true)
    expect(await reaches(join(top, 'alias'), [join(top, 'alias')])).toBe(true)
    expect(await reaches(join(outside, 'secret.txt'), [notes, outside])).toBe(true)
    expect(await reaches('milk.txt', [join(top, 'none')])).toBe(false)
    expect(await reaches('/etc', ['/'])).toBe(true)
  })
})
