import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Platform } from '../src/domain/shared/platforms.ts'
import { readJson, writeJson } from './platforms/json-file.ts'
import type { Front } from './platforms/shared/simulator.ts'
import type { ServiceName } from './services/all.ts'
import type { SandboxUser } from './settings.ts'

/** `world.json`: the addresses and accounts that tests and scripts use. It exists while everything is ready. */
export interface World extends Record<Exclude<ServiceName, 'payments'>, Front> {
  api: string
  frontend: string
  temporal: { address: string; ui: string; namespace: string }
  mongo: string
  storage: { endpoint: string; bucket: string; publicUrl: string }
  processes: { api: number; worker: number; mongod: number; temporal: number; storage: number }
  users: SandboxUser[]
  /** A key of the first user with all scopes. */
  apiKey: string
  payments: Front & { webhookSecret: string }
  platforms: Record<Exclude<Platform, 'bluesky'>, Front> & {
    bluesky: Front & { identifier: string; appPassword: string }
  }
  secondMastodon: Front
}

export function writeWorld(dir: string, world: World): void {
  writeJson(join(dir, 'world.json'), world)
}

/** Returns null while no sandbox in the folder is ready. */
export const readWorld = (dir: string): World | null => readJson<World | null>(join(dir, 'world.json'), null)

export function removeWorld(dir: string): void {
  rmSync(join(dir, 'world.json'), { force: true })
}
