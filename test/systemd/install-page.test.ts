import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { installInto, packAs } from '../fakes/packed-programs.ts'
import { fakeSystemd } from '../fakes/systemd.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const PAGE = readFileSync(join(ROOT, 'config/install.md'), 'utf8')
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** The commands of the page in their order; each block is a list of lines for a shell. */
const COMMANDS = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))

/**
 * Stand-ins: `npm ci` and `npm pack` have happened, npm installs below a prefix of the test and asks no registry, `sudo`
 * checks that there is such a command and does not become root, `docker` checks that the files exist.
 */
function household() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-page-'))
  const systemd = fakeSystemd(folder)
  onTestFinished(() => {
    systemd.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const [prefix, checkout] = [join(folder, 'prefix'), join(folder, 'checkout')]
  for (const name of [prefix, checkout, join(folder, '.config/parley')]) mkdirSync(name, { recursive: true })
  writeFileSync(join(folder, '.config/parley/parley.yaml'), 'http: { port: 0 }\n', { mode: 0o600 })
  cpSync(join(ROOT, 'systemd'), join(checkout, 'systemd'), { recursive: true })
  const packed = packAs(VERSION, folder)
  installInto(prefix, packed)
  rmSync(join(prefix, 'lib/node_modules/parley'), { recursive: true })
  const tool = (name: string, script: string): void => {
    writeFileSync(join(systemd.bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(systemd.bin, name), 0o755)
  }
  const npm = realpathSync(
    process.env.PATH?.split(':')
      .map((place) => join(place, 'npm'))
      .find(existsSync) ?? '',
  )
  tool(
    'npm',
    `case "$1" in ci) exit 0 ;; pack) [ -d "$2" ] || exec cp '${packed}' . ;; esac\nexec '${process.execPath}' '${npm}' "$@" --offline`,
  )
  tool(
    'sudo',
    'while [ "${1#*=}" != "$1" ]; do shift; done\n[ "$1" = parley ] || exit 0\ncase "$3" in -*) exec parley "$2" --help ;; esac\nexec parley "$2" "$3" --help',
  )
  tool('docker', 'while [ $# -gt 0 ]; do [ "$1" != -f ] || [ -f "$2" ] || exit 1; shift; done')
  const env = {
    ...{ HOME: folder, npm_config_prefix: prefix },
    PATH: `${systemd.bin}:${join(prefix, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
  }
  return (command: string) => promisify(execFile)('sh', ['-ec', command], { env, cwd: checkout })
}

/** Ends with 1, and says that it changes nothing without --yes. */
const ASKS = 'parley uninstall'

test('the commands of the page install the program, run it as a service, upgrade and remove it, in their order', {
  timeout: 300_000,
}, async () => {
  const run = household()
  expect(COMMANDS).toContain(ASKS)
  for (const command of COMMANDS) {
    const said = await run(command === ASKS ? `! ${command}` : command).catch((error) => error)
    expect(said, command).not.toHaveProperty('code')
    if (command === 'parley --version') expect(said.stdout).toBe(`${VERSION}\n`)
    if (command === 'parley service status') expect(said.stdout).toContain('active (running)')
  }
  await expect(run('parley --version')).rejects.toMatchObject({ code: 127 })
})
