import { expect, test } from 'vitest'
import { fakeOperator } from '../fakes/operator.ts'
import { type Rig, rig, serveDaemon } from './rig.ts'

async function withDaemon(): Promise<Rig> {
  const parley = await rig()
  await serveDaemon(parley, fakeOperator())
  return parley
}

test.each([
  [['--dry-run'], 0],
  [[], 1],
  [['--yes'], 0],
])(
  'S41: forget person says first whose ids go together, with %j, and fails if it waits for --yes',
  async (options, code) => {
    const parley = await withDaemon()
    expect(await parley.run('forget', 'person', 'telegram:111', ...options)).toBe(code)
    expect(parley.out()).toMatch(/^You mean ada: telegram:111, discord:222\.\n/)
  },
)

test('S41: forget chat means nobody', async () => {
  const parley = await withDaemon()
  expect(await parley.run('forget', 'chat', 'telegram:group:-100123', '--dry-run')).toBe(0)
  expect(parley.out()).not.toContain('You mean')
})
