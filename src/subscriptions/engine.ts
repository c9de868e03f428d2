export { Engine, type EngineOptions } from '../engine/engine.ts';
