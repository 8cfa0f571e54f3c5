import { describeFaults } from './fault-tests.ts';

describeFaults('redis');
