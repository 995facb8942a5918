"""The core tables; the statements stand beside this file, in SQL."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    # Straight to the driver: SQLAlchemy would read the text's percent signs as parameters.
    driver = op.get_bind().connection.driver_connection
    assert driver is not None  # the connection is open: env.py was handed it
    driver.execute(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
