import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CASE } from '../faults/rounds.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type House, namesIn, startHouse } from './house.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../config/maintenance.md', import.meta.url)), 'utf8')
/** The commands of the page, in its order. */
const COMMANDS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
const [SCHEDULE = ''] = /```yaml\n([\s\S]*?)```/.exec(PAGE)?.slice(1) ?? []

async function heard(house: House, text: string): Promise<void> {
  const daemon = house.daemon()
  await daemon.start()
  await house.heard(text)
  await daemon.terminate()
}

describe('config/maintenance.md', CASE, () => {
  it('its commands, in its order, copy, check and put back a store', async () => {
    const house = await startHouse()
    await heard(house, 'the first')
    expect(COMMANDS.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['parley backup', 'parley backup', 'parley restore', 'parley restore', 'parley start'],
    ])
    let copy = ''
    for (const line of COMMANDS) {
      const words = line.replace('<backup>', copy).split(' ').slice(1)
      if (words[0] === 'start') continue
      const ended = await house.run(words)
      expect(ended).toMatchObject({ code: 0 })
      if (line === 'parley backup') {
        copy = ended.stdout.split('\n')[0] ?? ''
        await heard(house, 'the second')
      }
    }
    const daemon = house.daemon()
    await daemon.start()
    house.later()
    await house.heard('the third')
    await daemon.terminate()
    const words = messages(join(house.state, 'parley.db'))
    expect([words.includes('the first'), words.includes('the second')]).toEqual([true, false])
  })

  it('its schedule makes a copy at the next start, in a process of its own, and status names it', async () => {
    const house = await startHouse()
    const to = join(house.folder, 'disk')
    mkdirSync(to, { mode: 0o700 })
    const settings = JSON.parse(readFileSync(house.configFile, 'utf8'))
    const lines = SCHEDULE.replace('/mnt/disk', to)
    writeFileSync(house.configFile, `${lines}${yamlOf(settings)}`)
    const daemon = house.daemon()
    await daemon.start()
    await house.heard('hello')
    await expect
      .poll(() => namesIn(to).filter((name) => name.startsWith('parley-')), { timeout: 60_000 })
      .toHaveLength(1)
    const status = async () => JSON.parse((await house.run(['status', '--json'])).stdout).backup
    await expect.poll(status, { timeout: 30_000 }).toMatchObject({ there: true })
    await daemon.terminate()
  })

  it('a copy of the stopped folder by another tool is a good one, and one of the running folder lacks what the log had', async () => {
    const house = await startHouse()
    const daemon = house.daemon()
    await daemon.start()
    await house.heard('in the log')
    const torn = join(house.folder, 'torn')
    // A tool that has read the database before its log was written back, and passes the log over.
    mkdirSync(torn)
    cpSync(join(house.state, 'parley.db'), join(torn, 'parley.db'))
    await daemon.kill()
    const all = join(house.folder, 'all')
    cpSync(house.state, all, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    expect(messages(join(all, 'parley.db'))).toContain('in the log')
    expect(readable(join(torn, 'parley.db'))).not.toContain('in the log')
    await heard(house, 'and later')
    const stopped = join(house.folder, 'stopped')
    cpSync(house.state, stopped, { recursive: true })
    rmSync(house.state, { recursive: true })
    cpSync(stopped, house.state, { recursive: true })
    await heard(house, 'after cp -a')
    expect(messages(join(house.state, 'parley.db'))).toContain('and later')
  })
})

/** JSON is YAML, but not below lines of it: each setting is a line of its own. */
function yamlOf(settings: Readonly<Record<string, unknown>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')
}

function messages(path: string): string {
  return withDatabase(path, (database) =>
    database.prepare<[], string>("SELECT data FROM events WHERE type = 'user_message'").pluck().all().join(' '),
  )
}

function readable(path: string): string {
  try {
    return messages(path)
  } catch {
    return ''
  }
}
