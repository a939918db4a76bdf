import { initial } from './0001-initial.ts'
import { schedules } from './0002-schedules.ts'
import type { Migration } from './migration.ts'

/** Every migration there is, in order. */
export const MIGRATIONS: readonly Migration[] = [initial, schedules]
