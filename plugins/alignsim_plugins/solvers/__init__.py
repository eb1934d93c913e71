"""Who answers what."""
