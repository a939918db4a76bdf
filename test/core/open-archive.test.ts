import { expect, it } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import { openArchive } from '../../src/core/open-archive.ts'
import type { ArchivePage } from '../../src/core/operate-archives.ts'

const event = (seq: number) => ({ seq }) as ArchivePage['events'][number]
const session = { id: 'api:x', lastSeq: 450 } as ArchivePage['session']

it('C42: an export ends where the session did when it began, whatever is said meanwhile', async () => {
  const asked: unknown[] = []
  const archives = {
    async page(name: string, { after, limit }: { readonly after: number; readonly limit: number }) {
      asked.push([name, after])
      // Each page finds the log longer than the last one.
      return { session, events: Array.from({ length: limit }, (_, at) => event(after + 1 + at)) }
    },
    file: async () => Promise.reject(new ParleyError('internal', 'no file was asked for')),
  }
  const far: (readonly [number, number])[] = []
  const archive = await openArchive(archives, 'a title', {
    format: 'jsonl',
    came: (seq, last) => void far.push([seq, last]),
  })
  const seen: number[] = []
  for await (const page of archive.pages()) seen.push(...page.map(({ seq }) => seq))
  expect(seen).toEqual(Array.from({ length: 450 }, (_, at) => at + 1))
  expect(asked).toEqual([
    ['a title', 0],
    ['api:x', 200],
    ['api:x', 400],
    // What came meanwhile may say that something was forgotten.
    ['api:x', 450],
  ])
  expect(far).toEqual([
    [200, 450],
    [400, 450],
  ])
})

it('a file that is gone is left out, and any other failure ends the export', async () => {
  let code: 'not_found' | 'unreadable' | 'unavailable' = 'not_found'
  const file = () => Promise.reject(new ParleyError(code, 'no'))
  const archive = await openArchive({ page: async () => ({ session, events: [] }), file }, 'api:x', { format: 'jsonl' })
  for (code of ['not_found', 'unreadable'] as const) expect(await archive.file('m' as never)).toBeUndefined()
  code = 'unavailable'
  await expect(archive.file('m' as never)).rejects.toMatchObject({ code })
})
