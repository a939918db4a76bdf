import { EXIT } from '../../core/errors.ts'
import type { Relocation, RelocationKind } from '../../core/relocation.ts'
import { askOperator } from '../ask-operator.ts'
import { byTitle, placeNamed } from '../named-session.ts'
import { oneLine } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface RelocateOptions extends ReadOptions {
  readonly kind: RelocationKind
  readonly to: string
  readonly yes?: boolean
}

/** Moves or forks a session; a wider audience is named first, and nothing is done until that is meant. */
export async function relocateSession(ports: ReadPorts, name: string, options: RelocateOptions): Promise<number> {
  const { kind, to, yes = false } = options
  const loaded = await ports.load(options.config, 'ask')
  const done = await askOperator(ports, loaded, async ({ archives, sessions }) => {
    const request = { kind, to: await placeNamed(sessions, to), confirmed: yes }
    return byTitle(sessions, name, (one) => archives.relocate(one, request))
  })
  show(ports, options, { value: done, lines: () => describe(done, name, options) })
  return done.state === 'done' ? EXIT.ok : EXIT.failed
}

function describe(done: Relocation, name: string, { kind, to }: RelocateOptions): readonly string[] {
  if (done.state === 'asks')
    return [
      oneLine(done.audience),
      `Nothing was done. If that is meant: parley sessions ${kind} '${name}' '${to}' --yes`,
    ]
  const verb = kind === 'move' ? 'continues' : 'continues in both places, here'
  return [
    `${done.from} ${verb} in ${oneLine(done.key)} as ${done.session}.`,
    ...(done.replaced === undefined ? [] : [`${done.replaced}, which was there, is kept and no longer used.`]),
    'The settings of the session (thinking, verbose, voice, model) go along; whether anything is sent stays with the place.',
    ...(done.agent === undefined ? [] : [`The agent ${oneLine(done.agent)} answers there.`]),
  ]
}
