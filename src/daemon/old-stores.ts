import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../core/logger.ts'

/** The folders in which older programs are found. */
export interface UsualPlaces {
  readonly home?: string | undefined
  /** Molf keeps its sessions where it is started. */
  readonly cwd: string
}

/**
 * Says which older programs have conversations in their usual place, with the command that imports them, a line each;
 * nothing is imported by itself.
 */
export async function tellOldStores(places: UsualPlaces, logger: Logger): Promise<void> {
  for (const { program, folder } of await oldStores(places))
    logger.info('An older program has conversations here; none is imported by itself', {
      ...{ program, folder, command: `parley import '${folder}'` },
    })
}

interface OldStore {
  readonly program: string
  readonly folder: string
}

async function oldStores({ home, cwd }: UsualPlaces): Promise<readonly OldStore[]> {
  const found: OldStore[] = []
  if (home !== undefined) {
    const [picoclaw, openclaw] = [join(home, '.picoclaw'), join(home, '.openclaw')]
    if (await holds(join(picoclaw, 'workspace/sessions'), /\.jsonl?$/)) {
      found.push({ program: 'PicoClaw', folder: picoclaw })
    }
    for (const agent of await names(join(openclaw, 'agents'))) {
      if (!(await holds(join(openclaw, 'agents', agent, 'sessions'), /\.jsonl$/))) continue
      found.push({ program: 'OpenClaw', folder: openclaw })
      break
    }
  }
  if (await holds(join(cwd, 'sessions'), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$/)) {
    found.push({ program: 'Molf', folder: cwd })
  }
  return found
}

async function holds(folder: string, name: RegExp): Promise<boolean> {
  return (await names(folder)).some((one) => name.test(one))
}

/** A folder that is not there, or may not be read, holds nothing of interest. */
function names(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => [])
}
